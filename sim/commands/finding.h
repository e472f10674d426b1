// What may make iterations longer than a scenario says, and how likely that is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/clock/gap.h"

namespace syncline {

// Iterations whose lengths differ by less count as equally long.
inline constexpr double no_difference = 0.03;

// How likely a cause is, by what is usual. More than the last is never.
enum class Likelihood { usual, possible, unusual };

struct Finding {
  std::string name;
  std::string what;
  std::string look_at;
  Likelihood likelihood = Likelihood::unusual;
  double distance = 0;  // among those as likely, the least first
  std::optional<double> amount = {};
  std::optional<double> iteration_s = {};  // of a variation
  // Alone, for iterations as long as measured; or it makes them longer still.
  enum class Reach { too_little, enough, too_much } reach = Reach::enough;
  std::string same_as = {};  // the one before it whose iterations are equally long
};

// `amount`, which is more the worse, by the most that is usual and that is possible.
Likelihood likelihood(double amount, double usual, double possible);

// Of a cause that has an amount, without its name. `cards`: their kind of network; `node_workers`:
// of the largest node.
Finding about(const Slowdown& cause, const std::string& cards, int node_workers);

const char* name_of(Slowdown::Kind kind);

// Options whose iterations are equally long are one cause: the likelier first, the others after it.
void put_same_together(std::vector<Finding>& findings);

// The names of those as likely as the first, or equally long: one number cannot tell them apart.
std::vector<std::string> not_told_apart(const std::vector<Finding>& findings);

}  // namespace syncline

// Makes scenarios from a user's text: reads the values, and checks everything that does not need
// the platform.
#pragma once

#include <string>
#include <vector>

#include "kernels/registry.h"
#include "sim/options/user_input.h"
#include "sim/scenario.h"

namespace syncline {

// Options that do not fit together: which one, and why.
struct Conflict {
  std::string key;
  std::string why;
  // What a sweep leaves out: the cell, or only the option, which means nothing in it. By default
  // the cell if the option is one that selects others (Option::selects).
  enum class LeftOut { by_default, option, cell } left_out = LeftOut::by_default;
};

// All three throw std::invalid_argument that says where the value was given and what is allowed.
// The second returns conflicts instead of throwing them, so that a sweep can leave cells out. A
// collective alone needs no model.
Scenario resolve(const GivenOptions& given);
Scenario resolve(const GivenOptions& given, std::vector<Conflict>& conflicts,
                 bool needs_model = true);
[[noreturn]] void refuse(const GivenOptions& given, const Conflict& conflict);
// The text of the error that refuse() throws.
std::string refusal(const GivenOptions& given, const Conflict& conflict);

// The exchanges from which `exchange = auto` takes the cheapest: each adds dense gradients on the
// way, without servers.
const std::vector<std::string>& candidate_exchanges();
// Those whose transfers NCCL's algorithms have: the candidates of `exchange = nccl`.
const std::vector<std::string>& nccl_candidates();

// Names of the registered things for which `fits` holds, in the form of error messages.
template <class T, class Fits>
std::string those_that(Fits fits) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : Registered<T>::all())
    if (fits(entry))
      names.push_back(name);
  return listed(names);
}

}  // namespace syncline

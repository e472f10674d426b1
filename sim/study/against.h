// A folder of scenarios against a base: which figures moved, which way and by which part; and which
// expectations are not those of the base, because somebody has blessed or edited them.
#pragma once

#include <string>
#include <vector>

#include "sim/study/expectation.h"

namespace syncline {

// An expectation that was replaced, as a reviewer has to see it.
struct Replaced {
  enum class Kind { renewed, added, removed };
  Kind kind = Kind::renewed;
  std::string cell;
  std::string figure;
  std::string before;  // "951.3 +- 0.1 %"
  std::string now;
  std::string because;           // the reason that is given now
  std::optional<double> change;  // of what is expected, as a part
  bool looser = false;           // it allows what it did not allow before, of the same figure
};

struct BaseComparison {
  std::string base;               // "main (1a2b3c4d5e6f)", "results"
  std::vector<Verdict> verdicts;  // by the base's expectations
  std::vector<Replaced> replaced;
  bool expects_the_same = false;  // as the folder's own expected.csv, notes and all
  std::string note;               // what else there is to say of the base; empty: nothing
};

std::vector<Replaced> replaced_between(const std::vector<Expectation>& before,
                                       const std::vector<Expectation>& now);

// For a terminal, and for a pull request.
std::string against_text(const BaseComparison& against);
std::string against_markdown(const BaseComparison& against);

}  // namespace syncline

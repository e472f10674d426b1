// Compares a folder of scenarios with a base: which figures moved, in which direction and by which
// part; and which expectations are not those of the base, because somebody has blessed or edited
// them.
#pragma once

#include <string>
#include <vector>

#include "sim/study/expectation.h"

namespace syncline {

// An expectation that was replaced, as shown to a reviewer.
struct Replaced {
  enum class Kind { renewed, added, removed };
  Kind kind = Kind::renewed;
  std::string cell;
  std::string figure;
  std::string before;  // "951.3 +- 0.1 %"
  std::string now;
  std::string because;           // the reason that is given now
  std::optional<double> change;  // of the expected figure, as a part
  bool looser = false;           // allows values of the figure that were not allowed before
};

struct BaseComparison {
  std::string base;               // "main (1a2b3c4d5e6f)", "results"
  std::vector<Verdict> verdicts;  // judged by the base's expectations
  std::vector<Replaced> replaced;
  // The base's expected.csv equals the folder's own, including notes.
  bool expects_the_same = false;
  std::string note;  // anything else about the base; empty: nothing
};

std::vector<Replaced> replaced_between(const std::vector<Expectation>& before,
                                       const std::vector<Expectation>& now);

// Texts for a terminal, and for a pull request.
std::string against_text(const BaseComparison& against);
std::string against_markdown(const BaseComparison& against);

}  // namespace syncline

// What `check --against REF|FOLDER` compares with: the expected.csv of a commit or of a folder, or
// the results that `run --out` has written into a folder; and what moved since: figures, and
// expectations that somebody has blessed or edited.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/gate/folder.h"

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

struct CheckBase {
  std::string title;
  ExpectedFile expected;
  bool is_of_results = false;  // then only the results' own notes are known
  std::string note;
};

// A folder if there is one of this name, else a commit. Throws an error of one line, before
// anything is simulated.
CheckBase read_base(const std::string& given, const CheckFolder& folder);

BaseComparison compared_with(const CheckBase& base, const CheckFolder& folder);

}  // namespace syncline

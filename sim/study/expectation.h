// Expectations of figures of cells (expected.csv of `syncline check`): whether they are met, and
// what moved the figures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/result.h"
#include "sim/study/cause.h"
#include "sim/study/verdict.h"

namespace syncline {

struct Expectation {
  std::string cell;
  std::string figure;
  std::string expected;             // as written; empty: only bounds
  std::optional<double> tolerance;  // a part of what is expected; none: a note that explains others
  std::optional<double> at_least;
  std::optional<double> at_most;
  std::string because;
  bool only_warns = false;            // severity = warn: a miss closes no gate
  bool only_worse = false;            // direction = worse: better than expected is met, too
  int line = 0;                       // in its file
  std::vector<std::string> comments;  // lines with # above it there

  bool is_judged() const { return tolerance || at_least || at_most; }
};

// The figures that can be judged: those that are numbers.
std::vector<std::string> judged_figures();

// Another seed moves throughput, and what an iteration is made of, by up to such a part; 0 where
// nothing is drawn.
double moved_by_seeds(const Result& result);

// What is known of a cell: the notes that expected.csv has of it, empty if there are none; those of
// now; and where its files are.
struct CellNotes {
  Notes before;
  Notes now;
  InputPaths paths;
};
Verdict judge(const Expectation& expectation, const Result& result, const CellNotes& notes);

}  // namespace syncline

// Expectations of the figures of cells (expected.csv of `syncline check`): whether they are met,
// and what moved the figures.
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
  std::string expected;  // as written; empty: only bounds
  // A part of `expected`; none: a note that explains other figures.
  std::optional<double> tolerance;
  std::optional<double> at_least;
  std::optional<double> at_most;
  std::string because;
  bool only_warns = false;            // severity = warn: a miss does not close the gate
  bool only_worse = false;            // direction = worse: a better figure meets it, too
  int line = 0;                       // in its file
  std::vector<std::string> comments;  // lines with # above it in its file

  bool is_judged() const { return tolerance || at_least || at_most; }
};

// The figures that can be judged: those that are numbers.
std::vector<std::string> judged_figures();

// The part by which another seed moves throughput and the parts of an iteration, at most; 0 if
// nothing is random.
double moved_by_seeds(const Result& result);

// Notes of a cell: those in expected.csv, empty if there are none; those of this run; and the paths
// of its files.
struct CellNotes {
  Notes before;
  Notes now;
  InputPaths paths;
};
Verdict judge(const Expectation& expectation, const Result& result, const CellNotes& notes);

}  // namespace syncline

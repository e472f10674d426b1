// Expectations of figures of cells (expected.csv of `syncline check`): whether they are met, and
// what moved the figures.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/result.h"
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

  bool is_judged() const { return tolerance || at_least || at_most; }
};

constexpr double tolerance_of_new_rows = 0.001;

// Notes explain a move, by name: parts of an iteration, and what the scenario reads.
using Notes = std::map<std::string, std::string>;

// The names of notes that are no figures: `options`, and files.
extern const std::vector<std::string> noted_inputs;
Notes notes_of(const Result& result, const Notes& inputs);

// The figures that can be judged: those that are numbers.
std::vector<std::string> judged_figures();

// `before` are the notes of the cell in expected.csv, empty if there are none.
Verdict judge(const Expectation& expectation, const Result& result, const Notes& before,
              const Notes& now);

}  // namespace syncline

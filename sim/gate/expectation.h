// Expectations of the figures of cells, and their file, the expected.csv of `syncline check`:
// whether they are met, and what moved the figures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/gate/cause.h"
#include "sim/gate/verdict.h"
#include "sim/result.h"

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

Verdict judge(const Expectation& expectation, const Result& result, const CellNotes& notes);

struct ExpectedFile {
  std::vector<std::string> comments;  // `#` lines above the column names
  std::vector<Expectation> rows;
  std::vector<std::string> comments_at_end;
};

// Throws std::runtime_error if the file cannot be read, or is too long.
std::string text_of_expected(const std::string& path);

// Throws std::runtime_error "path:line: ..." for an unknown column or figure, two rows for one
// figure of a cell, or a row without an expectation.
ExpectedFile read_expected(const std::string& path);
// The same for a text; errors name it `path`.
ExpectedFile expected_in(const std::string& text, const std::string& path);

std::string expected_text(const ExpectedFile& file);

// The first field of a row, in quotes if it begins with #, which would begin a comment.
std::string first_field(const std::string& value);

}  // namespace syncline

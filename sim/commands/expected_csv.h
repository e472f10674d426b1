// expected.csv: what figures of a folder's cells are expected to be, and why.
#pragma once

#include <string>
#include <vector>

#include "sim/study/expectation.h"

namespace syncline {

struct ExpectedFile {
  std::vector<std::string> comments;  // `#` lines above the column names
  std::vector<Expectation> rows;
  std::vector<std::string> comments_at_end;
};

// Throws std::runtime_error where the file cannot be read, or is longer than any of ours.
std::string text_of_expected(const std::string& path);

// Throws std::runtime_error "path:line: ...": a column or a figure that there is not, two rows for
// one figure of a cell, a row without an expectation.
ExpectedFile read_expected(const std::string& path);
// The same of a text; `path` is what errors call it.
ExpectedFile expected_in(const std::string& text, const std::string& path);

std::string expected_text(const ExpectedFile& file);

// The first field of a row: in quotes a # begins no comment.
std::string first_field(const std::string& value);

}  // namespace syncline

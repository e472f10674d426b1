// expected.csv: the expected figures of a folder's cells, and the reasons.
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

// The new content of expected.csv that `check --bless` writes, and what is printed about it.
#pragma once

#include <string>
#include <vector>

#include "sim/gate/folder.h"

namespace syncline {

struct Blessed {
  ExpectedFile file;
  std::vector<std::string> sentences;  // what is gone, which tolerances were widened, and why
};

// The expected.csv of the folder's present figures. A row that is not met gets the present figure
// and the reason. A cell without a row gets rows for throughput, for what it has learned, and
// notes. Bounds and comments stay as they are. A new row, and one that gets a new figure, has a
// tolerance of at least the cell's own interval; a tolerance of 0 stays.
// Throws std::runtime_error if a cell could not be simulated.
Blessed blessed(const CheckFolder& folder, const std::string& because);

// Rewrites expected.csv, and reads it again. Returns a line that says what it now has.
std::string write_blessed(CheckFolder& folder, const ExpectedFile& now);

// The file's text, of which `check` is sure to read the same rows. Throws std::runtime_error, one
// line, otherwise.
std::string readable_text(const ExpectedFile& file, const std::string& path);

// The reason given with --because, as it is written. Throws std::invalid_argument if it is too
// long.
std::string reason_of(const std::string& given);

}  // namespace syncline

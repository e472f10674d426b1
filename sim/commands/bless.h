// What `check --bless` writes into expected.csv, and what there is to say of it.
#pragma once

#include <string>
#include <vector>

#include "sim/commands/check_folder.h"

namespace syncline {

constexpr double tolerance_of_new_rows = 0.001;

struct Blessed {
  ExpectedFile file;
  std::vector<std::string> said;  // sentences: what is gone, what is wide, and why
};

// What expected.csv should say now. A row that is not met gets its figure and the reason, a cell
// without a row throughput, what it has learned, and notes; bounds and comments stay as they are.
// Every row that is written has a tolerance of at least the cell's own interval.
Blessed blessed(const CheckFolder& folder, const std::string& because);

// The text of it, which `check` is sure to read. Throws std::runtime_error, one line, if it would
// not.
std::string readable_text(const ExpectedFile& file, const std::string& path);

// The reason of --because, as it is written. Throws std::invalid_argument where it is too long.
std::string reason_of(const std::string& given);

}  // namespace syncline

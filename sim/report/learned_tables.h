// The tables of what a run has learned: rows of numbers. Each is an object of columns in the
// result, and a file beside it, CELL.<name>.csv.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/report/number_member.h"
#include "sim/result.h"

namespace syncline {

struct LearnedColumn {
  std::string name;
  AllowedNumbers allowed;
  // The number in a row, none if it is not finite or absent; and the function that sets it.
  std::function<std::optional<double>(const Learned&, std::size_t row)> number;
  std::function<void(Learned&, std::size_t row, std::optional<double>)> put;
};

struct LearnedTable {
  std::string name;
  std::string begin;    // of the file's first line, fixed by contract: new columns come after these
  const char* nothing;  // in the file, for a number that is none
  bool always;          // there is a file even without rows
  std::vector<LearnedColumn> columns;
  std::function<std::size_t(const Learned&)> rows;
  std::function<void(Learned&, std::size_t rows)> resize;
};

// In the order of the JSON: curve, compression and histogram.
const std::vector<LearnedTable>& learned_tables();

// The text of the table's file. Each number reads back to the same double. Empty if there are no
// rows, unless `always`.
std::string table_csv(const Learned& learned, const LearnedTable& table);

}  // namespace syncline

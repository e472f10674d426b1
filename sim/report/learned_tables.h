// The tables in what a run has learned: rows of numbers. Each is an object of columns in its
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
  // The number in this row; none where it is not finite or not there. And how it is set.
  std::function<std::optional<double>(const Learned&, std::size_t row)> number;
  std::function<void(Learned&, std::size_t row, std::optional<double>)> put;
};

struct LearnedTable {
  std::string name;
  std::string begin;    // of the file's first line, by contract: other columns come after these
  const char* nothing;  // in the file, where there is no number
  bool always;          // has a file even without rows
  std::vector<LearnedColumn> columns;
  std::function<std::size_t(const Learned&)> rows;
  std::function<void(Learned&, std::size_t rows)> resize;
};

// The tables stand in the order of the JSON: curve, compression and histogram.
const std::vector<LearnedTable>& learned_tables();

// The text of the file. Each number reads back to the same double. Empty where nothing was
// compressed, so that there is no such table.
std::string table_csv(const Learned& learned, const LearnedTable& table);

}  // namespace syncline

// Cells of a sweep without a result: it was stopped before, or they were refused. A comparison of
// the others says so, because a missing cell may be the baseline, or better.
#pragma once

#include <string>
#include <vector>

#include "sim/result.h"

namespace syncline {

using CellOptions = std::vector<WrittenOption>;

// The cells that a sweep's results.csv lists, with a result or without. None if there is no such
// file. Throws std::runtime_error that names file and line if the file is not such a table.
std::vector<CellOptions> cells_listed_in(const std::string& results_csv);

// The cells of `sweep` without a result.
std::vector<CellOptions> without_result(const std::vector<CellOptions>& sweep,
                                        const std::vector<Result>& results);

// "7 of 12 cells (asp, 8 workers; bsp, 8 workers; bsp, 4 workers; 4 more)": names by what tells
// cells apart. Empty if none are missing.
std::string missing_shown(const std::vector<CellOptions>& sweep,
                          const std::vector<Result>& results);

}  // namespace syncline

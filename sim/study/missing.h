// Cells of a sweep that have no result: it was stopped before, or they were refused. Who compares
// the others says so, because one of these may be the baseline, or better.
#pragma once

#include <string>
#include <vector>

#include "sim/result.h"

namespace syncline {

using CellOptions = std::vector<WrittenOption>;

// The cells that a sweep's results.csv lists, with a result or without. None where there is no such
// file. Throws std::runtime_error that names file and line where it is another one.
std::vector<CellOptions> cells_listed_in(const std::string& results_csv);

// Those of these cells that none of the results is of.
std::vector<CellOptions> without_result(const std::vector<CellOptions>& sweep,
                                        const std::vector<Result>& results);

// "7 of 12 cells (asp, 8 workers; bsp, 8 workers; bsp, 4 workers; 4 more)": what tells them apart.
// Empty where none are missing.
std::string missing_shown(const std::vector<CellOptions>& sweep,
                          const std::vector<Result>& results);

}  // namespace syncline

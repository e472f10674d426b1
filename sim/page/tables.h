// Results as tables: for people, and as CSV.
#pragma once

#include <string>
#include <vector>

#include "sim/result.h"

namespace syncline {

// A line per cell: the swept options, others that differ, then the main figures.
std::string comparison_table(const std::vector<Result>& results,
                             const std::vector<std::string>& swept);
// The report of one cell, with all its figures.
std::string full_report(const Result& result);
// A line per cell with all of these options, then all figures that are numbers; a field is empty if
// the cell has no such number. All results therefore have the same columns. Missing cells come
// last, with their options only.
std::string results_csv(const std::vector<Result>& results, const std::vector<std::string>& options,
                        const std::vector<std::vector<WrittenOption>>& missing = {});

}  // namespace syncline

// Sweeps: lists of values.
#pragma once

#include <string>
#include <vector>

#include "sim/options/given.h"
#include "sim/scenario.h"

namespace syncline {

// Lists of values make a sweep over their product. It leaves out cells whose values do not fit
// together (asp with exchange = ring), and parameters of a file that have no meaning because of a
// flag; `left_out` says which. It is an error if no cell uses a value.
struct Sweep {
  std::vector<Scenario> cells;
  std::vector<std::string> swept;  // the options with lists, in the order of --help
  std::vector<std::string> left_out;
};
constexpr int most_cells = 10'000;

// Throws std::invalid_argument of one line, also where the product has more than most_cells.
Sweep expand(const GivenOptions& given);

}  // namespace syncline

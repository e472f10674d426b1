// Sweeps: lists of values, and cells with names.
#pragma once

#include <string>
#include <vector>

#include "sim/options/user_input.h"
#include "sim/scenario.h"

namespace syncline {

// Lists of values make a sweep over their product, in each section of its own. It leaves out cells
// whose values do not fit together (asp with exchange = ring), and parameters of a file that have
// no meaning because of a flag; `left_out` says which. It is an error if no cell uses a value, or
// if a section has no cell.
struct Sweep {
  std::vector<Scenario> cells;
  // `name` where there are sections, then the options that have a list in any of them, in the order
  // of --help.
  std::vector<std::string> swept;
  std::vector<std::string> left_out;
};

// Throws std::invalid_argument of one line, also where there would be more than most_cells.
Sweep expand(const std::vector<Section>& sections);
Sweep expand(const GivenOptions& given);

}  // namespace syncline

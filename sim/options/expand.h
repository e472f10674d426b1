// Sweeps: lists of values, and named cells.
#pragma once

#include <string>
#include <vector>

#include "sim/options/user_input.h"
#include "sim/scenario.h"

namespace syncline {

// Lists of values make a sweep over their product, separately in each section. A sweep leaves out
// cells whose values do not fit together (asp with exchange = ring), and parameters of a file that
// a flag makes meaningless; `left_out` lists both. It is an error if no cell uses a value, or if a
// section has no cell. Where no section chooses `reality`, and it would be typical in some cells
// while the platforms of others name no kind of network, it is nominal in all.
struct Sweep {
  std::vector<Scenario> cells;
  // `name` if there are sections, then the options that have a list in any section, in the order of
  // --help.
  std::vector<std::string> swept;
  std::vector<std::string> left_out;
};

// Throws std::invalid_argument of one line, also if there would be more than most_cells cells. A
// collective alone needs no model.
Sweep expand(const std::vector<Section>& sections, bool needs_model = true);
Sweep expand(const GivenOptions& given);

}  // namespace syncline

// What lists in values come to.
#pragma once

#include <string>
#include <vector>

#include "sim/options/given.h"
#include "sim/scenario.h"

namespace syncline {

// Lists in values make a sweep over their product. Cells in which a value has no meaning beside
// another from a list (asp with exchange = ring) are left out, and parameters in a file that a flag
// has made meaningless; `left_out` tells. It is an error when no cell uses a value.
struct Sweep {
  std::vector<Scenario> cells;
  std::vector<std::string> swept;  // the options with lists, in the order of --help
  std::vector<std::string> left_out;
};
Sweep expand(const GivenOptions& given);

}  // namespace syncline

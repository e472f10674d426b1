// The options of a scenario as its result keeps them.
#pragma once

#include <string>
#include <vector>

#include "sim/result.h"
#include "sim/scenario.h"

namespace syncline {

// Every option that has a value, given or default, by name: numbers as numbers. The
// name of a cell, if it has one, comes first.
std::vector<WrittenOption> written_options(const Scenario& scenario);

// All that written_options can have: `name`, then the options in alphabetical order.
std::vector<std::string> option_names();

}  // namespace syncline

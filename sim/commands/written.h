// What a user has written, as results keep it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/scenario.h"

namespace syncline {

// Every option that has a value, given or default, by name: numbers as numbers. The
// name of a cell, if it has one, comes first.
nlohmann::ordered_json written_options(const Scenario& scenario);

// All that written_options can have: `name`, then the options in alphabetical order.
std::vector<std::string> option_names();

}  // namespace syncline

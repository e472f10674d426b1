// Defaults of training software: platforms/frameworks.csv.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario.h"

namespace syncline {

// The framework for "none", a name, or NAME-VERSION. A name alone means its newest version. Throws
// std::invalid_argument that lists the existing names, or the first known version.
Framework framework_called(const std::string& text);

// "WHOSE: option = value (source); ..."; empty: there are none.
std::string described(const std::string& whose, const std::vector<Default>& defaults);

}  // namespace syncline

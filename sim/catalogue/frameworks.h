// Defaults of training software: platforms/frameworks.csv.
#pragma once

#include <string>

#include "sim/scenario.h"

namespace syncline {

// The framework for "none", a name, or NAME-VERSION. A name alone means its newest version. Throws
// std::invalid_argument that lists the existing names, or the first known version.
Framework framework_called(const std::string& text);

}  // namespace syncline

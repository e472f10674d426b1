// What software of training does unless its user says otherwise: platforms/frameworks.csv.
#pragma once

#include <string>

#include "sim/scenario.h"

namespace syncline {

// Of "none", a name, or NAME-VERSION: of the newest version, unless one is named. Throws
// std::invalid_argument that lists the names there are, or the first version that is known.
Framework framework_called(const std::string& text);

}  // namespace syncline

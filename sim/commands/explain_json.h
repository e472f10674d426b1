// The document that `explain --json` prints of a scenario.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/setup/platform.h"
#include "sim/setup/setup.h"

namespace syncline {

nlohmann::ordered_json explained(const Setup& setup, Routes& routes);

}  // namespace syncline

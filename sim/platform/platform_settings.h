// SimGrid's settings in the <config> of a platform file. A platform of ours sets nothing; one of
// others may say what the scenario says anyway.
#pragma once

#include <string>

#include "sim/platform/platform_file.h"
#include "sim/scenario.h"

namespace syncline {

// Whether it changes no figure: what is written where, how SimGrid's own programs run, and what MPI
// takes of its processes' time.
bool changes_nothing(const std::string& setting);
// Whether a scenario says what it is, by its network and its factors.
bool is_of_network(const std::string& setting);
// Why a setting that is neither is not allowed.
std::string why_not_set(const std::string& setting);

// Throws std::runtime_error with file and line where the platform sets another network than the
// scenario's.
void check_platform_settings(const Scenario& scenario, const PlatformFile& platform);

}  // namespace syncline

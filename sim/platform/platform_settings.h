// SimGrid's settings in the <config> of a platform file. Our platforms set nothing; other tools'
// platforms may repeat what the scenario sets anyway.
#pragma once

#include <string>

#include "sim/platform/platform_file.h"
#include "sim/scenario.h"

namespace syncline {

// True if a setting changes no figure: output, running SimGrid's own programs, and the time that
// MPI processes take.
bool changes_nothing(const std::string& setting);
// True if a scenario determines this setting, by its network and its factors.
bool is_of_network(const std::string& setting);
// Why any other setting is not allowed.
std::string why_not_set(const std::string& setting);

// Throws std::runtime_error with file and line if the platform sets another network than the
// scenario's.
void check_platform_settings(const Scenario& scenario, const PlatformFile& platform);

}  // namespace syncline

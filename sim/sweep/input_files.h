// The files that a scenario reads.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/scenario.h"
#include "sim/setup/platform_check.h"

namespace syncline {

// By kind, in a fixed order: platform_file (and the files that it names), model_file,
// throughput_file, cost_table_file (all that may be chosen from).
std::vector<std::pair<std::string, std::vector<std::string>>> input_files(
    const Scenario& scenario, const PlatformFile& platform);

// Fingerprint of all of them, so that a finished cell is not kept after one has changed.
std::string inputs_of(const Scenario& scenario, const PlatformFile& platform);

}  // namespace syncline

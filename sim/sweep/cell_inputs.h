// The input of a scenario, as its result keeps it: options, and the files that it reads.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/platform/platform_file.h"
#include "sim/result.h"
#include "sim/scenario.h"

namespace syncline {

// Every option that has a value, given or default, by name: numbers as numbers. The name of a cell,
// if it has one, comes first.
std::vector<WrittenOption> written_options(const Scenario& scenario);

// All names that written_options() can have: `name`, then the options in alphabetical order.
std::vector<std::string> option_names();

// The files that a scenario reads, by kind, in a fixed order: platform_file (and the files that it
// names), model_file, throughput_file, cost_table_file (all that may be chosen from), devices_file,
// frameworks_file, networks_file, server_software_file, data_file.
std::vector<std::pair<std::string, std::vector<std::string>>> input_files(
    const Scenario& scenario, const PlatformFile& platform);

// Fingerprint of all these files, so that a finished cell is not kept after one of them has
// changed.
std::string inputs_of(const Scenario& scenario, const PlatformFile& platform);

}  // namespace syncline

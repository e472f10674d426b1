// Makes the platform of a scenario. SimGrid loads it into the only engine of this process; or, with
// `fidelity = analytic` and a platform in words, arithmetic answers without SimGrid
// (words_network.h).
#pragma once

#include <memory>
#include <string>

#include "sim/platform/platform_file.h"
#include "sim/platform/routes.h"
#include "sim/scenario.h"

namespace syncline {

// Starts the engine with the scenario's network model and loads its platform. Call it once per
// process. SimGrid aborts on a bad file, with a message on stderr: call it in a child process
// (sim/sweep/process.h), which turns the message into one line.
std::shared_ptr<const Platform> load_platform(const Scenario& scenario, const PlatformFile& file);

std::string simgrid_version();

}  // namespace syncline

// The platform of a scenario is made: SimGrid loads it into this process's one engine, or, for
// `fidelity = analytic` and in words, arithmetic alone answers (words_network.h).
#pragma once

#include <memory>
#include <string>

#include "sim/platform/platform_file.h"
#include "sim/platform/routes.h"
#include "sim/scenario.h"

namespace syncline {

// Starts the engine with the scenario's network model and loads its platform. Call it once per
// process. SimGrid answers a bad file with an abort and a message on stderr: call it in a child
// process (sim/sweep/process.h), which turns that into one line.
std::shared_ptr<const Platform> load_platform(const Scenario& scenario, const PlatformFile& file);

std::string simgrid_version();

}  // namespace syncline

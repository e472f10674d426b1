// The computation of a worker whose rate was measured through its schedule.
#pragma once

#include "sim/platform/platform_file.h"
#include "sim/scenario.h"

namespace syncline {

// With `throughput-of = schedule`, returns the scenario with the `throughput` of computation alone:
// with it, a simulated run of one worker, without variation, has the measured rate. Returns any
// other scenario as it is. Simulates in processes of its own, so call it before the platform is
// loaded. Throws std::invalid_argument if the exchange alone takes longer than measured, and
// std::runtime_error if the first worker host, whose rate it is, is not the fastest.
Scenario with_computation_alone(const Scenario& scenario, const PlatformFile& platform);

}  // namespace syncline

// What a worker computes, where its rate was measured through its schedule.
#pragma once

#include "sim/platform/platform_file.h"
#include "sim/scenario.h"

namespace syncline {

// With `throughput-of = schedule`, the scenario whose `throughput` is that of computation alone:
// the one with which a simulated run of one worker, without variation, has the rate that was
// measured. Any other scenario is returned as it is. Simulates, in processes of its own, so call it
// before the platform is loaded. Throws std::invalid_argument where the exchange alone takes
// longer, and where the first worker host is not the fastest, whose rate it is.
Scenario with_computation_alone(const Scenario& scenario, const PlatformFile& platform);

}  // namespace syncline

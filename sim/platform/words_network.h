// A platform in words without SimGrid: what its XML (platform_text.h) would describe, answered by
// arithmetic for any number of hosts.
#pragma once

#include <memory>

#include "sim/platform/platform_words.h"
#include "sim/platform/routes.h"
#include "sim/scenario.h"

namespace syncline {

// The network model is `exact`, as `fidelity = analytic` requires. Throws std::invalid_argument if
// a pattern of bandwidth-factor or latency-factor matches no link.
std::shared_ptr<Platform> words_network(const PlatformPlan& plan, const NetworkOptions& options);

}  // namespace syncline

// A platform in words without SimGrid: what its XML would say (platform_text.h), answered by
// arithmetic, of any number of hosts.
#pragma once

#include <memory>

#include "sim/platform/platform_words.h"
#include "sim/platform/routes.h"
#include "sim/scenario.h"

namespace syncline {

// The network model is `exact`, as `fidelity = analytic` asks. Throws std::invalid_argument where a
// pattern of bandwidth-factor or latency-factor fits no link.
std::shared_ptr<Platform> words_network(const PlatformPlan& plan, const NetworkOptions& options);

}  // namespace syncline

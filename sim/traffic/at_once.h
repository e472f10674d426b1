// The time of an exchange whose transfers all move at once.
#pragma once

#include <optional>

#include "sim/plan.h"
#include "sim/platform/routes.h"
#include "sim/traffic/traffic.h"

namespace syncline {

// Seconds until all transfers of all ranks have ended, without latency, if all begin together and
// share links equally. Every bandwidth is multiplied by `bandwidth`. None: there are more ranks
// than plans are made for.
std::optional<double> seconds_at_once(const Traffic& traffic, Routes& routes,
                                      const Payload& payload, double bandwidth);

}  // namespace syncline

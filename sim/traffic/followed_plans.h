// The time of an exchange, found by following all ranks' plans message by message while nothing
// else runs.
#pragma once

#include <optional>

#include "sim/plan.h"
#include "sim/platform/routes.h"
#include "sim/traffic/traffic.h"

namespace syncline {

struct PlanTime {
  double seconds = 0;
  double fixed_s = 0;  // of these: the time if messages had no bytes
  // Seconds from the end of one bucket to the end of the next; all of `seconds` if the first phase
  // allows only one bucket in flight.
  double pace_s = 0;
  double pace_fixed_s = 0;  // of pace_s: if messages had no bytes
};

// Seconds of averaging this payload, in all steps, without the first and the last work of each
// plan. A rank's step begins when the rank has received the step before and injected its own. A
// message arrives a latency after its last byte has left, no matter when the receiver looks for it.
// Flows that meet share links equally, and FATPIPE links limit each flow. If there are more than 64
// partitions, the rest follow at the pace of the first 64. None: following all messages would take
// too long. Every bandwidth is multiplied by `bandwidth`.
std::optional<PlanTime> plan_time(const Traffic& traffic, Routes& routes, const Payload& payload,
                                  double bandwidth);

}  // namespace syncline

// The time of an exchange: plans of all ranks, followed message by message while nothing else runs.
#pragma once

#include <optional>

#include "sim/plan.h"
#include "sim/platform/routes.h"
#include "sim/traffic/traffic.h"

namespace syncline {

struct PlanTime {
  double seconds = 0;
  double fixed_s = 0;  // of these, what is left if no message had a byte
  // A pipeline's next bucket follows so soon: seconds from the end of one to that of the next.
  // Elsewhere it is all of `seconds`.
  double pace_s = 0;
  double pace_fixed_s = 0;
};

// Seconds of averaging this payload, in all steps, without the first and the last work of each
// plan. A rank's step begins when it has received the one before and injected its own; a message
// arrives a latency after its last byte has left, whenever it is looked for; flows that meet share
// links equally, and FATPIPE links limit each. Of more than 64 partitions the rest follow at the
// pace of those. None: it would take too long to follow all messages. Every bandwidth is multiplied
// by `bandwidth`.
std::optional<PlanTime> plan_time(const Traffic& traffic, Routes& routes, const Payload& payload,
                                  double bandwidth);

}  // namespace syncline

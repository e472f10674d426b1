// The time of an exchange, followed message by message.
#pragma once

#include <optional>

#include "sim/plan.h"
#include "sim/setup/platform.h"
#include "sim/setup/traffic.h"

namespace syncline {

struct PlanTime {
  double seconds = 0;
  double fixed_s = 0;  // of these, what is left if no message had a byte
  // A pipeline's next bucket follows so soon: seconds from the end of one to that of the next.
  // Elsewhere it is all of `seconds`.
  double pace_s = 0;
  double pace_fixed_s = 0;
};

// Seconds of averaging this payload while nothing else runs, in all steps, as followed_plans.h
// follows them. Of more than 64 partitions the rest follow at the pace of those. None: it would
// take too long to follow all messages. Every bandwidth is multiplied by `bandwidth`.
std::optional<PlanTime> plan_time(const Traffic& traffic, Routes& routes, const Payload& payload,
                                  double bandwidth = 1);

}  // namespace syncline

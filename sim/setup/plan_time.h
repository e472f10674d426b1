// How long an exchange takes, followed message by message.
#pragma once

#include <optional>

#include "sim/plan.h"
#include "sim/setup/platform.h"
#include "sim/setup/traffic.h"

namespace syncline {

struct PlanTime {
  double seconds = 0;
  double fixed_s =
      0;  // of these, what is left if no message had a byte: latencies, overheads, work
  // Of a pipeline, how soon another such bucket follows: seconds from the end of one to that of the
  // next. Elsewhere all of it.
  double pace_s = 0;
  double pace_fixed_s = 0;
};

// Of averaging this payload while nothing else runs, in all steps, without the first and the last
// work of a plan. A rank's step begins when it has received the one before and injected its own; a
// message arrives a latency after its last byte has left, whenever it is looked for; flows that
// meet share links equally, and FATPIPE links limit each. Of more than 64 partitions the rest
// follow at the pace of those. None: it would take too long to follow all messages.
// Every bandwidth is multiplied by `bandwidth`.
std::optional<PlanTime> plan_time(const Traffic& traffic, Routes& routes, const Payload& payload,
                                  double bandwidth = 1);

}  // namespace syncline

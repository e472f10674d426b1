// Plans of all ranks, followed message by message while nothing else runs.
#pragma once

#include <optional>
#include <vector>

#include "sim/plan.h"
#include "sim/setup/platform.h"
#include "sim/setup/traffic.h"

namespace syncline {

// So much of them is followed.
struct Followed {
  int buckets = 1;     // one after the other, as early as each can be
  int partitions = 1;  // of each pipeline, at most
  double per_byte =
      1;  // bytes that a byte of the plans counts; 0: latencies, overheads and work only
};

// Seconds until all is done, without the first and the last work of each plan; none: it would take
// too long to follow. A rank's step begins when it has received the one before and injected its
// own; a message arrives a latency after its last byte has left, whenever it is looked for; flows
// that meet share links equally, and FATPIPE links limit each.
std::optional<double> followed_seconds(const Traffic& traffic, Routes& routes,
                                       const std::vector<Plan>& plans, const Followed& what);

}  // namespace syncline

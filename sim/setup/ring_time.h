// The time of a ring whose hops differ, in closed form.
#pragma once

#include <vector>

namespace syncline {

// From one position of a ring to the next.
struct RingHop {
  double latency_s = 0;
  double part_s = 0;  // of injecting one step's part: bytes / bandwidth
};

// Seconds until the last part of `steps` steps has arrived, if all positions begin together and a
// position sends its next part when it has received the one before and has injected its own last
// one. With i(r, s) the end of injecting and a(r, s) the arrival of what position r sends in step
// s:
//   i(r, s) = max(a(r-1, s-1), i(r, s-1)) + step_overhead_s + part_s(r),  a(r, s) = i(r, s) +
//   latency_s(r)
// The result is max over r of a(r, steps - 1). So tiny parts cost the largest sum of `steps`
// consecutive latencies (NCCL's tuning model counts hops inside and between nodes in the same way),
// large ones `steps` parts at the slowest hop. Time: near-linear in the hops.
double ring_seconds(const std::vector<RingHop>& hops, int steps, double step_overhead_s);

}  // namespace syncline

// The time of a ring whose hops differ, in closed form.
#pragma once

#include <optional>
#include <vector>

namespace syncline {

// From one position of a ring to the next.
struct RingHop {
  double latency_s = 0;
  double part_s = 0;  // of injecting one step's part: bytes / bandwidth
  // The same while no other channel sends over this hop's links. In several channels parts meet
  // there where one follows the other without a pause, but few of those that a later one waits for.
  std::optional<double> alone_s = {};  // none: part_s

  double moving_s() const { return latency_s + alone_s.value_or(part_s); }
};

// Seconds until the last part of `steps` steps has arrived, if all positions begin together and a
// position sends its next part when it has received the one before and has injected its own last
// one. With i(r, s) the end of injecting and a(r, s) the arrival of what position r sends in step
// s:
//   i(r, s) = max(a(r-1, s-1) + alone_s(r), i(r, s-1) + part_s(r)) + step_overhead_s,
//   a(r, s) = i(r, s) + latency_s(r), and i(r, 0) = alone_s(r) + step_overhead_s
// The result is max over r of a(r, steps - 1). So tiny parts cost the largest sum of `steps`
// consecutive latencies (NCCL's tuning model counts hops inside and between nodes in the same way),
// large ones `steps` parts at the slowest hop. Time: near-linear in the hops.
double ring_seconds(const std::vector<RingHop>& hops, int steps, double step_overhead_s);

// The same of one channel of several. The others are on a hop's links for a part of the time, rho =
// (part_s - alone_s) * steps / seconds, so that what moves there shares them as in a queue by
// processor sharing: alone_s * (1 + rho + rho^2 + rho^3), the first terms of 1 / (1 - rho), because
// those in the queue are few; at most part_s. Within 3 % of every step where cards are the
// narrowest links, and 5 % where links inside nodes are (law 29).
double channel_seconds(std::vector<RingHop> hops, int steps, double step_overhead_s);

}  // namespace syncline

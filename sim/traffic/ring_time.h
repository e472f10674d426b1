// The time of a ring with different hops, in closed form.
#pragma once

#include <optional>
#include <vector>

namespace syncline {

// From one position of a ring to the next.
struct RingHop {
  double latency_s = 0;
  double part_s = 0;  // to inject the part of one step: bytes / bandwidth
  // The same while no other channel sends over this hop's links. Parts of several channels meet on
  // a link if they follow each other without a pause, but a later part waits for few of the parts
  // that meet.
  std::optional<double> alone_s = {};  // none: part_s

  double moving_s() const { return latency_s + alone_s.value_or(part_s); }
};

// Seconds until the last part of `steps` steps has arrived, if all positions begin together and a
// position sends its next part when it has received the one before and has injected its own last
// one. Let i(r, s) be the end of the injection, and a(r, s) the arrival, of the part that position
// r sends in step s:
//   i(r, s) = max(a(r-1, s-1) + alone_s(r), i(r, s-1) + part_s(r)) + step_overhead_s,
//   a(r, s) = i(r, s) + latency_s(r), and i(r, 0) = alone_s(r) + step_overhead_s
// The result is max over r of a(r, steps - 1). Tiny parts cost the largest sum of `steps`
// consecutive latencies (NCCL's tuning model counts hops inside and between nodes in the same way);
// large parts cost `steps` parts at the slowest hop. Computing it takes time near-linear in the
// hops.
double ring_seconds(const std::vector<RingHop>& hops, int steps, double step_overhead_s);

// The same for one channel of several. The other channels are on a hop's links for a fraction of
// the time, rho = (part_s - alone_s) * steps / seconds, so a part shares them as in a queue with
// processor sharing. It takes alone_s * (1 + rho + rho^2 + rho^3), the first terms of 1 / (1 -
// rho), because few are in the queue; at most part_s. Within 3 % of simulating every step where
// cards are the narrowest links, and 5 % where links inside nodes are (law 29).
double channel_seconds(std::vector<RingHop> hops, int steps, double step_overhead_s);

}  // namespace syncline

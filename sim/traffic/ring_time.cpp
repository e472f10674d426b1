// A critical path goes on to the next hop or stays for a step. If it stays, then where injecting
// takes longest on its way. So it visits an arc of the ring, at most `steps` hops, and takes
//   sum over the arc of (latency_s + alone_s) + (steps - hops of the arc) * max part_s of the arc.
// For each part_s this is the largest sum of (latency_s + alone_s - that part_s) over arcs that
// have it, which a sliding minimum of prefix sums finds in one pass. An arc that has a longer
// part_s too is only counted for too little.
#include "sim/traffic/ring_time.h"

#include <algorithm>
#include <cstddef>

namespace syncline {
namespace {

// Each is a pass over all hops. Beyond 500,000 hops 8 are kept: hops that are nearer to each other
// count as the longest of them, so that the ring may take a little too long.
std::size_t most_distinct(std::size_t hops) {
  return std::clamp<std::size_t>(4'000'000 / hops, 8, 64);
}

// The hops' part_s in ascending order; those that differ by less than a tolerance are one, the
// longest. Flows that share links end at times that differ by rounding only.
std::vector<double> distinct_parts(const std::vector<RingHop>& hops) {
  std::vector<double> all;
  for (const RingHop& hop : hops)
    all.push_back(hop.part_s);
  std::ranges::sort(all, std::greater<>());
  for (double tolerance = 1e-12;; tolerance *= 10) {
    std::vector<double> distinct;
    for (const double part_s : all)
      if (distinct.empty() || part_s < distinct.back() * (1 - tolerance))
        distinct.push_back(part_s);
    if (distinct.size() <= most_distinct(hops.size())) {
      std::ranges::reverse(distinct);
      return distinct;
    }
  }
}

}  // namespace

double ring_seconds(const std::vector<RingHop>& hops, int steps, double step_overhead_s) {
  if (hops.empty() || steps < 1)
    return 0;
  const auto longest = static_cast<std::size_t>(steps);
  const std::vector<double> distinct = distinct_parts(hops);
  double seconds = 0;
  std::vector<double> before;  // sums over the hops before each, while hops stay so long
  before.reserve(hops.size() + longest + 1);
  std::vector<std::size_t> starts;  // of falling sums before them: the best is at `first`
  for (std::size_t d = 0; d < distinct.size(); ++d) {
    const double stay_s = distinct[d];
    const auto stays_here = [&](double part_s) {
      return part_s <= stay_s && (d == 0 || part_s > distinct[d - 1]);
    };
    // Arcs from `start` to before `end`, twice and more round the ring where there are more steps.
    before.assign(1, 0);
    starts.clear();
    std::size_t first = 0;
    std::size_t next_start = 0;
    auto hop = hops.begin();
    for (std::size_t end = 1; end <= hops.size() + longest; ++end) {
      const RingHop& last = *hop;
      if (++hop == hops.end())
        hop = hops.begin();
      before.push_back(before.back() + last.moving_s() - stay_s);
      if (stays_here(last.part_s))
        for (; next_start < end; ++next_start) {
          while (starts.size() > first && before[starts.back()] >= before[next_start])
            starts.pop_back();
          starts.push_back(next_start);
        }
      while (starts.size() > first && starts[first] + longest < end)
        ++first;
      if (starts.size() > first)
        seconds = std::max(seconds, before[end] - before[starts[first]] + steps * stay_s);
    }
  }
  return seconds + steps * step_overhead_s;
}

double channel_seconds(std::vector<RingHop> hops, int steps, double step_overhead_s) {
  const double seconds = ring_seconds(hops, steps, step_overhead_s);
  bool shares_links = false;
  for (RingHop& hop : hops)
    if (hop.alone_s && *hop.alone_s < hop.part_s) {
      const double busy = std::min(1.0, (hop.part_s - *hop.alone_s) * steps / seconds);
      hop.alone_s = std::min(hop.part_s, *hop.alone_s * (1 + busy * (1 + busy * (1 + busy))));
      shares_links = true;
    }
  return shares_links ? std::max(seconds, ring_seconds(hops, steps, step_overhead_s)) : seconds;
}

}  // namespace syncline

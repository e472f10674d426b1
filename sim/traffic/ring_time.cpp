// A critical path goes on to the next hop, or stays at a hop for a step. If it stays, then at the
// hop of its way where injection takes longest. So the path visits an arc of the ring, at most
// `steps` hops, and takes
//   sum over the arc of (latency_s + alone_s) + (steps - hops of the arc) * max part_s of the arc.
// For each part_s this is the largest sum of (latency_s + alone_s - that part_s) over the arcs that
// contain it. A sliding minimum of prefix sums finds this sum in one pass. An arc that also has a
// longer part_s is only underestimated.
#include "sim/traffic/ring_time.h"

#include <algorithm>
#include <cstddef>

namespace syncline {
namespace {

// Each distinct part_s costs a pass over all hops. Beyond 500,000 hops 8 are kept: hops that are
// closer than that count as the longest of them, so the result may be a little too long.
std::size_t most_distinct(std::size_t hops) {
  return std::clamp<std::size_t>(4'000'000 / hops, 8, 64);
}

// The hops' distinct part_s in ascending order. Values that differ by less than a tolerance count
// as one, the longest: flows that share links end at times that differ only by rounding.
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
  std::vector<double> before;  // sums over the hops before each hop
  before.reserve(hops.size() + longest + 1);
  std::vector<std::size_t> starts;  // start positions with falling sums; the best is at `first`
  for (std::size_t d = 0; d < distinct.size(); ++d) {
    const double stay_s = distinct[d];
    const auto stays_here = [&](double part_s) {
      return part_s <= stay_s && (d == 0 || part_s > distinct[d - 1]);
    };
    // Arcs from `start` to before `end`; they go round the ring more than once if there are more
    // steps.
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

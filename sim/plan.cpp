#include "sim/plan.h"

#include <algorithm>
#include <cmath>

namespace syncline {
namespace {

// Each of size - 1 steps passes one part on to the next rank; a rank never passes `kept` on, and
// its predecessor never the part before.
Phase ring_phase(std::string_view name, const RingPlace& place, std::uint64_t bytes, int kept,
                 int group) {
  const int n = place.size;
  return {.name = name,
          .sends = {{place.next, bytes - share(bytes, n, kept % n)}},
          .receives = {{place.previous, bytes - share(bytes, n, (kept + n - 1) % n)}},
          .steps = n - 1,
          .group = group,
          .group_size = n};
}

}  // namespace

int pieces(std::uint64_t bytes, double piece) {
  return static_cast<int>(std::clamp(std::ceil(static_cast<double>(bytes) / piece), 1.0, 1e6));
}

Topology make_topology(const std::vector<int>& workers_in_node, int servers) {
  Topology topology;
  topology.servers = servers;
  for (const int count : workers_in_node) {
    topology.nodes.emplace_back();
    for (int i = 0; i < count; ++i) {
      topology.nodes.back().push_back(topology.workers());
      topology.node_of.push_back(static_cast<int>(topology.nodes.size()) - 1);
    }
  }
  return topology;
}

RingPlace place_in(const std::vector<int>& ring, int position) {
  const int n = static_cast<int>(ring.size());
  return {.position = position,
          .size = n,
          .next = ring[static_cast<std::size_t>((position + 1) % n)],
          .previous = ring[static_cast<std::size_t>((position + n - 1) % n)]};
}

Phase ring_reduce_scatter(const RingPlace& place, std::uint64_t bytes, int group) {
  return ring_phase("reduce-scatter", place, bytes, place.position, group);
}

Phase ring_all_gather(const RingPlace& place, std::uint64_t bytes, int group) {
  return ring_phase("all-gather", place, bytes, place.position + 1, group);
}

Phase ring_all_reduce(const RingPlace& place, std::uint64_t bytes, int group) {
  Phase both = ring_reduce_scatter(place, bytes, group);
  const Phase gather = ring_all_gather(place, bytes, group);
  both.name = "all-reduce";
  both.sends[0].bytes += gather.sends[0].bytes;
  both.receives[0].bytes += gather.receives[0].bytes;
  both.steps += gather.steps;
  return both;
}

}  // namespace syncline

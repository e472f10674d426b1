// Hierarchical all-reduce (Horovod's and NCCL's in-node/between-nodes split): reduce-scatter inside
// each node, then the workers with the same place in their nodes all-reduce their part around a
// ring across the nodes, then all-gather inside each node. Only 1/m of the ring between nodes is
// walked by each worker, in 2(N-1) steps instead of 2(n-1).
#include <stdexcept>

#include "sim/plan.h"

namespace syncline {
namespace {

Plan hierarchical(const Topology& topology, const Settings&, std::uint64_t bytes, int rank) {
  const auto nodes = static_cast<int>(topology.nodes.size());
  const int node = topology.node_of[static_cast<std::size_t>(rank)];
  const std::vector<int>& local = topology.nodes[static_cast<std::size_t>(node)];
  const auto m = static_cast<int>(local.size());
  for (const std::vector<int>& other : topology.nodes)
    if (other.size() != local.size())
      throw std::invalid_argument(
          "exchange = hierarchical: every node needs the same number of workers, but one has " +
          std::to_string(local.size()) + " and another " + std::to_string(other.size()));
  const int position = rank - local.front();
  const RingPlace inside = place_in(local, position);

  Plan plan;
  if (m > 1)
    plan.push_back(ring_reduce_scatter(inside, bytes, node));
  if (nodes > 1) {
    const auto peer = [&](int other) {
      return topology.nodes[static_cast<std::size_t>(other)][static_cast<std::size_t>(position)];
    };
    const RingPlace across{.position = node,
                           .size = nodes,
                           .next = peer((node + 1) % nodes),
                           .previous = peer((node + nodes - 1) % nodes)};
    plan.push_back(ring_all_reduce(across, share(bytes, m, position), nodes + position));
  }
  if (m > 1)
    plan.push_back(ring_all_gather(inside, bytes, node));
  return plan;
}

const Registered<Exchange> entry{{
    .name = "hierarchical",
    .sentence = "reduce-scatter in the node, rings across nodes, all-gather in the node",
    .parameters = {},
    .uses_servers = false,
    .plan = hierarchical,
}};

}  // namespace
}  // namespace syncline

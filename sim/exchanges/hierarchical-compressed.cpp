// Compression between nodes only, with messages that cannot be added: gradients are
// reduce-scattered uncompressed inside each node; each worker compresses its share of the sum and
// sends each node's worker at its place one N-th of it; that worker adds these parts and compresses
// their sum again, for all nodes; at last each node gathers among its workers what was decoded.
// With N nodes of m workers, d bytes and messages of b: 2 (m-1)/m d in the node, 2 (N-1)/N b/m
// between nodes, where `hierarchical` gathers (N-1) b/m. Bagua's ByteGrad (Gan et al., VLDB 2021)
// and BytePS with its compressors (Jiang et al., OSDI 2020; Zhong et al. 2021) aggregate so, in
// other places of a node.
#include "sim/collectives.h"

namespace syncline {
namespace {

Plan hierarchical_compressed(const Topology& topology, const Settings&, const Payload& payload,
                             int rank) {
  if (topology.workers() == 1)
    return {};
  const GridPlace place = place_in_grid(topology, rank, "hierarchical-compressed");
  const int m = place.inside.size;
  const int nodes = place.across.size;
  const int position = place.inside.position;
  const auto rank_at = [&](int node) { return topology.nodes[index(node)][index(position)]; };
  const auto part = [&](std::uint64_t message, int node) {  // a node's part of a worker's share
    return share(share(message, m, position), nodes, node);
  };
  const bool compressed = payload.elements > 0 && nodes > 1;
  const std::uint64_t elements = largest_share(payload.elements, m);

  Plan plan;
  if (m > 1)
    plan.push_back(ring_reduce_scatter(place.inside, payload.dense_bytes, place.inside_group));
  if (compressed)
    plan.push_back(encode(elements));
  std::vector<int> ranks;
  std::vector<std::uint64_t> sums;
  for (int node = 0; node < nodes; ++node) {
    ranks.push_back(rank_at(node));
    sums.push_back(part(payload.sum_of(rank_at(node)), node));
  }
  append_all_to_all(plan, Verb::all_to_all, ranks, place.across.position,
                    [&](int from, int to) { return part(payload.message_of(rank_at(from)), to); });
  if (compressed) {
    plan.push_back(decode(largest_share(elements, nodes), nodes));
    plan.push_back(encode(largest_share(elements, nodes)));
  }
  if (nodes > 1)
    plan.push_back(all_gather_across(place, sums));
  if (compressed)
    plan.push_back(decode(elements));
  if (m > 1)
    plan.push_back(ring_all_gather(place.inside, payload.dense_bytes, place.inside_group));
  return plan;
}

// The sum of a node's part is compressed again by the worker that has added it.
Values sum_of_parts(const Topology& topology, const Settings&, const Contributions& contributions) {
  const auto nodes = static_cast<int>(topology.nodes.size());
  if (nodes == 1)
    return dense_sum(contributions, topology.nodes.front(), 0, contributions.elements);
  const Values added = sum_of_shares(topology, contributions, false);
  Values sum(contributions.elements);
  const auto m = static_cast<int>(topology.node_size);
  for (int position = 0; position < m; ++position)
    for (int node = 0; node < nodes; ++node) {
      const std::size_t elements = share(contributions.elements, m, position);
      const std::size_t first =
          shares(contributions.elements, m, 0, position) + shares(elements, nodes, 0, node);
      const std::size_t count = share(elements, nodes, node);
      add_compressed_again(contributions, topology.nodes[index(node)][index(position)], first,
                           {added.data() + first, count}, sum);
    }
  return sum;
}

const Registered<Exchange> entry{{
    .name = "hierarchical-compressed",
    .sentence = "dense in the node; between nodes compressed parts are added and compressed again",
    .help = {.more = "Between nodes it sends as little as an all-reduce even if messages cannot be "
                     "added, and inside a node nothing loses precision; but every worker "
                     "compresses twice.",
             .paper = "ByteGrad in Bagua, Gan et al., VLDB 2021; BytePS, Jiang et al., OSDI 2020"},
    .uses_servers = false,
    .carries = Exchange::Carries::any,
    .plan = hierarchical_compressed,
    .combine = sum_of_parts,
}};

}  // namespace
}  // namespace syncline

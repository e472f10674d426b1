// HiTopKComm (Shi et al., MLSys 2021, with the MSTopK operator), for a fast network inside nodes:
// gradients are reduce-scattered uncompressed inside each node; each worker selects from its share
// of the sum; the workers with the same place in their nodes all-gather their selections; then
// every node all-gathers among its workers the selections of all nodes. With N nodes of m workers,
// d values and density rho: (m-1) d/m words inside the node, (N-1) rho d/m values and indices
// between nodes, and (m-1) N rho d/m inside the node again. So m times fewer bytes enter a worker
// than with a flat all-gather, and 1/m as many messages.
#include <numeric>

#include "sim/collectives.h"

namespace syncline {
namespace {

Plan hitopk(const Topology& topology, const Settings&, const Payload& payload, int rank) {
  if (topology.workers() == 1)
    return {};
  const GridPlace place = place_in_grid(topology, rank, "hitopk");
  const int m = place.inside.size;
  const int nodes = place.across.size;
  const auto selections = [&](int position) {  // bytes of each node's selection from one share
    return shares_of_messages(topology, payload, position);
  };

  Plan plan;
  if (m > 1)
    plan.push_back(ring_reduce_scatter(place.inside, payload.dense_bytes, place.inside_group));
  if (payload.elements > 0)
    plan.push_back(encode(largest_share(payload.elements, m)));
  if (nodes > 1)
    plan.push_back(all_gather_across(place, selections(place.inside.position)));
  if (m > 1) {
    std::vector<std::uint64_t> parts;
    for (int position = 0; position < m; ++position) {
      const std::vector<std::uint64_t> of_nodes = selections(position);
      parts.push_back(std::accumulate(of_nodes.begin(), of_nodes.end(), std::uint64_t{0}));
    }
    plan.push_back(ring_all_gather(place.inside, parts, place.inside_group));
  }
  if (payload.elements > 0)
    plan.push_back(decode(largest_share(payload.elements, m), nodes * m));
  return plan;
}

Values sum_of_selections(const Topology& topology, const Settings&,
                         const Contributions& contributions) {
  return sum_of_shares(topology, contributions, false);
}

const Registered<Exchange> entry{{
    .name = "hitopk",
    .sentence =
        "dense reduce-scatter in the node, then gathers of selections across nodes and inside",
    .help = {.more = "Selections cross between nodes only, and a slow network between fast nodes "
                     "carries 1/m of a flat gather's bytes.",
             .paper = "HiTopKComm, Shi et al., MLSys 2021"},
    .uses_servers = false,
    .carries = Exchange::Carries::sparse,
    .plan = hitopk,
    .combine = sum_of_selections,
}};

}  // namespace
}  // namespace syncline

// Hierarchical all-reduce (as in Horovod and NCCL): reduce-scatter inside each node; then the
// workers with the same place in their nodes all-reduce their part around a ring across the nodes;
// then all-gather inside each node. Each worker carries 1/m of the buffer between nodes, in 2(N-1)
// steps instead of 2(n-1).
//
// A compressor can be used in two ways (Espresso, EuroSys 2023, chooses between them). `in-node =
// dense` compresses only the data that cross nodes: each worker compresses its part of the node's
// sum, and messages that cannot be added are all-gathered there. A single node then compresses
// nothing. `in-node = compressed` compresses first and decompresses last, for messages that can be
// added.
#include <numeric>
#include <stdexcept>

#include "sim/collectives.h"

namespace syncline {
namespace {

std::uint64_t part_of(const GridPlace& place, std::uint64_t bytes) {
  return share(bytes, place.inside.size, place.inside.position);
}

void append_all_reduce(Plan& plan, const GridPlace& place, std::uint64_t bytes) {
  const bool one_per_node = place.inside.size == 1;
  if (!one_per_node)
    plan.push_back(ring_reduce_scatter(place.inside, bytes, place.inside_group));
  if (place.across.size > 1)
    plan.push_back(ring_all_reduce(place.across, part_of(place, bytes), place.across_group));
  if (!one_per_node)
    plan.push_back(ring_all_gather(place.inside, bytes, place.inside_group));
}

// Compresses only the data that cross nodes.
Plan dense_in_node(const Topology& topology, const GridPlace& place, const Payload& payload) {
  const int nodes = place.across.size;
  Plan plan;
  if (nodes == 1) {
    append_all_reduce(plan, place, payload.dense_bytes);
    return plan;
  }
  const bool one_per_node = place.inside.size == 1;
  const std::uint64_t elements = largest_share(payload.elements, place.inside.size);
  if (!one_per_node)
    plan.push_back(ring_reduce_scatter(place.inside, payload.dense_bytes, place.inside_group));
  plan.push_back(encode(elements));
  if (payload.summable) {
    for (int round = 0; round < payload.all_reduces; ++round) {
      const std::uint64_t bytes = share(payload.bytes, payload.all_reduces, round);
      plan.push_back(ring_all_reduce(place.across, part_of(place, bytes), place.across_group));
    }
  } else {
    plan.push_back(
        all_gather_across(place, shares_of_messages(topology, payload, place.inside.position)));
  }
  plan.push_back(decode(elements, payload.summable ? 1 : nodes));
  if (!one_per_node)
    plan.push_back(ring_all_gather(place.inside, payload.dense_bytes, place.inside_group));
  return plan;
}

Plan hierarchical(const Topology& topology, const Settings& settings, const Payload& payload,
                  int rank) {
  if (topology.workers() == 1)
    return {};
  const GridPlace place = place_in_grid(topology, rank, "hierarchical");
  Plan plan;
  if (payload.elements == 0) {
    append_all_reduce(plan, place, payload.bytes);
    return plan;
  }
  if (settings.word("in-node") == "dense")
    return dense_in_node(topology, place, payload);
  if (!payload.summable)
    throw std::invalid_argument(
        "in-node = compressed: this compressor's messages cannot be added: choose in-node = dense");
  plan.push_back(encode(payload.elements));
  for (int round = 0; round < payload.all_reduces; ++round)
    append_all_reduce(plan, place, share(payload.bytes, payload.all_reduces, round));
  plan.push_back(decode(payload.elements));
  return plan;
}

Values sum_of_grid(const Topology& topology, const Settings& settings,
                   const Contributions& contributions) {
  const std::size_t elements = contributions.elements;
  std::vector<int> everybody(contributions.gradients.size());
  std::iota(everybody.begin(), everybody.end(), 0);
  if (settings.word("in-node") == "compressed") {
    Values sum(elements);
    contributions.add_messages(everybody, 0, contributions.gradients, sum);
    return sum;
  }
  return topology.nodes.size() == 1
             ? dense_sum(contributions, everybody, 0, elements)
             : sum_of_shares(topology, contributions, contributions.summable);
}

const Registered<Exchange> entry{{
    .name = "hierarchical",
    .sentence = "reduce-scatter in the node, rings across nodes, all-gather in the node",
    .help = {.more = "Each worker carries its share of a node's sum between nodes, which pays "
                     "where the network in a node is faster.",
             .paper = "Horovod (Sergeev and Del Balso 2018); 2D torus in Shi et al., MLSys 2021; "
                      "Espresso, EuroSys 2023"},
    .options = {choice("in-node",
                       "dense: only data that cross nodes are compressed; compressed: all data are",
                       "dense", {"dense", "compressed"})},
    .uses_servers = false,
    .carries = Exchange::Carries::any,
    .adds_by =
        [](const Settings& settings) {
          return std::string(settings.word("in-node") == "compressed" ? "in-node" : "");
        },
    .plan = hierarchical,
    .combine = sum_of_grid,
}};

}  // namespace
}  // namespace syncline

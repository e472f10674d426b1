// Hierarchical all-reduce (Horovod's and NCCL's in-node/between-nodes split): reduce-scatter inside
// each node, then the workers with the same place in their nodes all-reduce their part around a
// ring across the nodes, then all-gather inside each node. Only 1/m of the ring between nodes is
// walked by each worker, in 2(N-1) steps instead of 2(n-1).
//
// With a compressor there are two ways (Espresso, EuroSys 2023, chooses between them). `in-node =
// dense` compresses only what crosses nodes, each worker its part of the node's sum; messages that
// cannot be added are all-gathered there. A single node then compresses nothing. `in-node =
// compressed` compresses first and reads last, for messages that can be added.
#include <stdexcept>

#include "sim/plan.h"

namespace syncline {
namespace {

// What one worker does with its part of the node's sum: `bytes`, or its share of the message.
void append_across(Plan& plan, const GridPlace& place, std::uint64_t bytes, std::uint64_t elements,
                   bool summable) {
  const int nodes = place.across.size;
  if (elements > 0)
    plan.push_back(compress(elements));
  if (summable) {
    plan.push_back(ring_all_reduce(place.across, bytes, place.across_group));
  } else {
    plan.push_back(ring_all_gather(place.across, static_cast<std::uint64_t>(nodes) * bytes,
                                   place.across_group));
    plan.back().name = "all-gather-across";
  }
  if (elements > 0)
    plan.push_back(decompress(elements, summable ? 1 : nodes));
}

Plan hierarchical(const Topology& topology, const Settings& settings, const Payload& payload,
                  int rank) {
  if (topology.workers() == 1)
    return {};
  const GridPlace place = place_in_grid(topology, rank, "hierarchical");
  const int m = place.inside.size;
  const bool compressed = payload.elements > 0;
  const bool dense_inside = !compressed || settings.word("in-node") == "dense";
  if (!dense_inside && !payload.summable)
    throw std::invalid_argument(
        "in-node = compressed: this compressor's messages cannot be added: choose in-node = dense");
  const std::uint64_t inside_bytes =
      dense_inside && compressed ? payload.dense_bytes : payload.bytes;

  Plan plan;
  if (!dense_inside)
    plan.push_back(compress(payload.elements));
  if (m > 1)
    plan.push_back(ring_reduce_scatter(place.inside, inside_bytes, place.inside_group));
  if (place.across.size > 1)
    append_across(plan, place, share(payload.bytes, m, place.inside.position),
                  dense_inside ? largest_share(payload.elements, m) : 0, payload.summable);
  if (m > 1)
    plan.push_back(ring_all_gather(place.inside, inside_bytes, place.inside_group));
  if (!dense_inside)
    plan.push_back(decompress(payload.elements, 1));
  return plan;
}

const Registered<Exchange> entry{{
    .name = "hierarchical",
    .sentence = "reduce-scatter in the node, rings across nodes, all-gather in the node",
    .parameters = {{.name = "in-node",
                    .sentence = "dense: only what crosses nodes is compressed; compressed: all is",
                    .fallback = "dense",
                    .choices = {"dense", "compressed"}}},
    .uses_servers = false,
    .carries = Exchange::Carries::any,
    .plan = hierarchical,
}};

}  // namespace
}  // namespace syncline

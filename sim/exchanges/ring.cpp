// Ring all-reduce (Patarasuk and Yuan 2009; NCCL's ring): reduce-scatter, then all-gather, in
// 2(n-1) steps that each move one n-th of the buffer to the next rank. Optimal in bytes, 2(n-1)/n
// of the buffer out of every rank, but its latency grows with n. Ranks follow the order of nodes,
// so only one flow leaves each node and one enters it; with several channels, one flow for each
// channel, by its own network card.
#include "sim/collectives.h"

namespace syncline {
namespace {

Plan ring(const Topology& topology, const Settings&, const Payload& payload, int rank) {
  if (topology.workers() == 1)
    return {};
  return in_channels(topology, rank, [&](const RingPlace& place, const ChannelShare& part) {
    return ring_all_reduce(place, part.of(payload.bytes), 0);
  });
}

Plan scatter(const Topology& topology, const Settings&, const Payload& payload, int rank) {
  if (topology.workers() == 1)
    return {};
  return in_channels(topology, rank, [&](const RingPlace& place, const ChannelShare& part) {
    return ring_reduce_scatter(place, part.of(payload.bytes), 0);
  });
}

Plan gather(const Topology& topology, const Settings&, const Payload& payload, int rank) {
  if (topology.workers() == 1)
    return {};
  return in_channels(topology, rank, [&](const RingPlace& place, const ChannelShare& part) {
    return ring_all_gather(place, part.of(payload.bytes), 0);
  });
}

const Registered<Exchange> entry{{
    .name = "ring",
    .sentence = "all-reduce around a ring of all workers: 2(n-1) steps of one n-th of the buffer",
    .help = {.more = "No exchange sends fewer bytes, 2(n-1)/n of the buffer per worker, but the "
                     "number of steps grows with n.",
             .paper = "Patarasuk and Yuan, JPDC 2009; NCCL"},
    .uses_servers = false,
    .has_channels = true,
    .plan = ring,
    .reduce_scatter = scatter,
    .all_gather = gather,
}};

}  // namespace
}  // namespace syncline

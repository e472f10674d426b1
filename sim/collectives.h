// The building blocks of exchanges: equal shares of a buffer, places in rings, rings and
// all-to-alls as phases; and what `fidelity = flow` makes of many messages.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/plan.h"

namespace syncline {

// --- Shares of a buffer.

// These are the bytes of shares first .. last - 1, if `bytes` are divided into `count` shares that
// differ by at most one byte.
inline std::uint64_t shares(std::uint64_t bytes, int count, int first, int last) {
  const auto n = static_cast<std::uint64_t>(count);
  return bytes * static_cast<std::uint64_t>(last) / n -
         bytes * static_cast<std::uint64_t>(first) / n;
}

inline std::uint64_t share(std::uint64_t bytes, int count, int i) {
  return shares(bytes, count, i, i + 1);
}

// This is the largest of `count` shares: every rank's work on its share takes as long as on this
// one.
inline std::uint64_t largest_share(std::uint64_t elements, int count) {
  return (elements + static_cast<std::uint64_t>(count) - 1) / static_cast<std::uint64_t>(count);
}

// A buffer has so many partitions of `partition_bytes`: at least one, and at most a million, to
// bound the plan's size.
int partitions(std::uint64_t bytes, double partition_bytes);

// --- Places.

bool nodes_of_one_size(const Topology& topology);

// One rank's position in a ring, and its neighbours.
struct RingPlace {
  int position = 0;
  int size = 1;
  int next = 0;  // ranks
  int previous = 0;
};

// `ring` holds ranks.
RingPlace place_in(const std::vector<int>& ring, int position);
// This is a place in the ring of all workers, in node order.
RingPlace place_among_all(int workers, int rank);

// This is the place in a channel's ring.
RingPlace place_in(const Topology& topology, int channel, int rank);

// A worker's two rings: in its node, and with the workers of the same position in other nodes.
struct GridPlace {
  RingPlace inside;
  RingPlace across;
  int inside_group = 0;
  int across_group = 0;
};

// Throws std::invalid_argument that names the exchange, if nodes differ in size.
GridPlace place_in_grid(const Topology& topology, int rank, const std::string& exchange);

// --- Rings and all-to-alls.

// The ring algorithms (Thakur, Rabenseifner, Gropp 2005): reduce-scatter leaves share `position` of
// the sum at each position, all-gather starts from there. Both take size - 1 steps of one share.
Phase ring_reduce_scatter(const RingPlace& place, std::uint64_t bytes, int group);
Phase ring_all_gather(const RingPlace& place, std::uint64_t bytes, int group);
// This one gathers messages of different sizes: messages[i] starts at position i.
Phase ring_all_gather(const RingPlace& place, const std::vector<std::uint64_t>& messages,
                      int group);
// The workers at this position in their nodes, node by node, each have a share of a message, which
// is the share of its position: these are their bytes. Nodes have one size.
std::vector<std::uint64_t> shares_of_messages(const Topology& topology, const Payload& payload,
                                              int position);
// Every worker sends its share of a message of its own to all workers.
Phase all_gather_of_sums(const Payload& payload, int workers, int rank);
// Reduce-scatter and all-gather have the same partners: together one phase, so one flow.
Phase ring_all_reduce(const RingPlace& place, std::uint64_t bytes, int group);

// A channel's share of what is sent.
struct ChannelShare {
  int channel = 0;
  int channels = 1;
  std::uint64_t of(std::uint64_t bytes) const { return share(bytes, channels, channel); }
};

// The same phase of every channel, each with its place and its share.
Plan in_channels(const Topology& topology, int rank,
                 const std::function<Phase(const RingPlace&, const ChannelShare&)>& phase);

// All-to-all: in round s each worker sends to rank + s and receives from rank - s (modulo n). So no
// two send to the same worker at once, and a round has n flows. All n(n-1) flows at once would move
// as many bytes per second, but the engine would need ten times as long (128 workers); and they
// would pay one latency, where the papers count n-1.
void append_all_to_all(Plan& plan, Verb verb, int workers, int rank,
                       const std::function<std::uint64_t(int from, int to)>& bytes);

// --- `fidelity = flow`.

// A circle of `size` places has at most eight evenly spaced distances that stand for all. Each
// carries the bytes for a range of distances, of which it is the middle.
struct DistanceRange {
  int middle, first, last;
};
std::vector<DistanceRange> representative_distances(int size, int most = 8);

// A thousand workers have a million pairs, so an all-to-all of more than seventeen workers runs
// every round that stays partly in a node, and of the others sixteen. Each of these has the bytes,
// and the steps, of those near it. Workers keep their bytes. Which places in their nodes exchange
// changes from round to round, as in all rounds together: so what the rounds have in common with
// the network (rails, sites, switches) keeps its proportions.
Plan with_fused_rounds(const Plan& plan, const Topology& topology);

// A phase with about so many messages, or fewer, stays as it is: it is fast enough.
constexpr int few_messages = 2048;

// Whether the steps of a phase are one flow, where so many workers take part in the exchange.
bool is_fused(const Phase& phase, bool every_step, int workers);

// A phase of a pipeline is executed partition after partition with `fidelity = step`. With `flow`
// it is executed in a few pieces per stage, because a pipeline of S stages is the same in all but
// its first and last S - 1 rounds: S - 1 pieces are a partition, and the others are the rest. Those
// are last in the first stage and first in the last one. So piece p of a stage begins with a
// partition that piece p of the stage before has brought.
int pieces_of(const Stage& stage, bool every_step);
Phase piece_of(const Phase& phase, int piece, bool every_step);

}  // namespace syncline

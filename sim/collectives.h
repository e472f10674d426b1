// Building blocks of exchanges: equal shares of a buffer, places in rings, rings and all-to-alls as
// phases, and the fewer messages of `fidelity = flow`.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sim/plan.h"

namespace syncline {

// --- Shares of a buffer.

// Bytes of shares first .. last - 1, where `bytes` are divided into `count` shares that differ by
// at most one byte.
inline std::uint64_t shares(std::uint64_t bytes, int count, int first, int last) {
  const auto n = static_cast<std::uint64_t>(count);
  return bytes * static_cast<std::uint64_t>(last) / n -
         bytes * static_cast<std::uint64_t>(first) / n;
}

inline std::uint64_t share(std::uint64_t bytes, int count, int i) {
  return shares(bytes, count, i, i + 1);
}

// The largest of `count` shares. The time of every rank's work on its share is taken to be the time
// for this one.
inline std::uint64_t largest_share(std::uint64_t elements, int count) {
  return (elements + static_cast<std::uint64_t>(count) - 1) / static_cast<std::uint64_t>(count);
}

// Number of partitions of `partition_bytes` in a buffer: at least one, and at most a million, to
// bound the plan's size.
int partitions(std::uint64_t bytes, double partition_bytes);

// --- Places.

bool nodes_of_one_size(const Topology& topology);
int largest_node(const Topology& topology);  // its workers

// One rank's position in a ring, and its neighbours.
struct RingPlace {
  int position = 0;
  int size = 1;
  int next = 0;  // ranks
  int previous = 0;
};

// `ring` holds ranks.
RingPlace place_in(const std::vector<int>& ring, int position);
// Place in the ring of all workers, in node order.
RingPlace place_among_all(int workers, int rank);

// Place in a channel's ring.
RingPlace place_in(const Topology& topology, int channel, int rank);

// A worker's two rings: in its node, and with the workers at the same position in other nodes.
struct GridPlace {
  RingPlace inside;
  RingPlace across;
  int inside_group = 0;
  int across_group = 0;
};

// Throws std::invalid_argument, which names the exchange, if nodes differ in size.
GridPlace place_in_grid(const Topology& topology, int rank, const std::string& exchange);

// --- Rings and all-to-alls.

// The ring algorithms (Thakur, Rabenseifner, Gropp 2005). Reduce-scatter leaves share `position` of
// the sum at each position; all-gather starts from there. Each takes size - 1 steps of one share.
Phase ring_reduce_scatter(const RingPlace& place, std::uint64_t bytes, int group);
Phase ring_all_gather(const RingPlace& place, std::uint64_t bytes, int group);
// Gathers messages of different sizes: messages[i] starts at position i.
Phase ring_all_gather(const RingPlace& place, const std::vector<std::uint64_t>& messages,
                      int group);
// The same among the workers at this place in their nodes: messages[i] is that of node i.
Phase all_gather_across(const GridPlace& place, const std::vector<std::uint64_t>& messages);
// Bytes, node by node, of the share that the node's worker at `position` has of its message: share
// number `position`. All nodes must have one size.
std::vector<std::uint64_t> shares_of_messages(const Topology& topology, const Payload& payload,
                                              int position);
// Every worker sends all workers its share of its own message.
Phase all_gather_of_sums(const Payload& payload, int workers, int rank);
// Reduce-scatter and all-gather have the same partners, so together they are one phase and one
// flow.
Phase ring_all_reduce(const RingPlace& place, std::uint64_t bytes, int group);

// One channel's share of the bytes to send.
struct ChannelShare {
  int channel = 0;
  int channels = 1;
  std::uint64_t of(std::uint64_t bytes) const { return share(bytes, channels, channel); }
};

// The same phase in every channel, each with its own place and share.
Plan in_channels(const Topology& topology, int rank,
                 const std::function<Phase(const RingPlace&, const ChannelShare&)>& phase);

// All-to-all: in round s each worker sends to rank + s and receives from rank - s (modulo n). No
// two workers send to the same one at once, and a round has n flows. Starting all n(n-1) flows at
// once would move as many bytes per second, but the engine would need ten times as long (128
// workers), and the flows would pay one latency, where the papers count n-1.
void append_all_to_all(Plan& plan, Verb verb, int workers, int rank,
                       const std::function<std::uint64_t(int from, int to)>& bytes);
// The same among these ranks, of which the one at `place` is this; `bytes` has places.
void append_all_to_all(Plan& plan, Verb verb, const std::vector<int>& ranks, int place,
                       const std::function<std::uint64_t(int from, int to)>& bytes);

// A worker compresses again the values that it has added, which begin at element `first`. Adds what
// its message brings to these elements of `sum`. Nothing if it has no values.
void add_compressed_again(const Contributions& contributions, int worker, std::size_t first,
                          std::span<const float> added, Values& sum);

// --- `fidelity = flow`.

// Divides the distances in a circle of `size` places into at most eight ranges of equal length. The
// middle distance of a range carries the bytes of the whole range.
struct DistanceRange {
  int middle, first, last;
};
std::vector<DistanceRange> representative_distances(int size, int most = 8);

// A thousand workers have a million pairs. An all-to-all of more than seventeen workers therefore
// runs every round that stays partly in a node (one between nodes has none), and sixteen of the
// others. Each of the sixteen carries the bytes and the steps of the rounds near it; no worker's
// bytes change. From round to round, the places within nodes that exchange differ as they do over
// all rounds. The traffic therefore keeps its proportions between rails, sites and switches.
Plan with_fused_rounds(const Plan& plan, const Topology& topology);

// A phase with about this many messages, or fewer, is not fused: it is fast enough.
constexpr int few_messages = 2048;

// Whether the steps of a phase are one flow, if `workers` take part in the exchange.
bool is_fused(const Phase& phase, bool every_step, int workers);

// With `fidelity = step` a phase of a pipeline runs partition by partition. With `flow` it runs in
// a few pieces per stage, because a pipeline of S stages behaves the same in all but its first and
// last S - 1 rounds: S - 1 pieces have one partition each, and the others share the rest. These
// others come last in the first stage and first in the last stage. Piece p of a stage therefore
// begins with a partition that piece p of the previous stage has brought.
int pieces_of(const Stage& stage, bool every_step);
Phase piece_of(const Phase& phase, int piece, bool every_step);

}  // namespace syncline

// What one rank does in one collective, as data. An exchange is a pure function that makes a Plan,
// so its volumes and its partners are tested without the engine; sim/engine/stream.cpp executes
// Plans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/registry.h"
#include "sim/values.h"

namespace syncline {

// Ranks, nodes, servers and buckets are ints from 0; what is kept of each, in a vector, is not.
inline std::size_t index(int i) {
  return static_cast<std::size_t>(i);
}

// One gradient transfer: neighbouring tensors, in the order in which backward produces them.
struct Bucket {
  int index = 0;  // 0 is produced first
  std::uint64_t parameters = 0;
  std::uint64_t small_parameters = 0;  // of these, in tensors too small to compress
  double forward_flop = 0;             // per sample; backward costs twice this
  int tensors = 0;
  std::string first;  // names of its first and last layer, in backward order
  std::string last;
};

// What is averaged: one bucket's gradient, and the message that is sent for it.
struct Payload {
  std::uint64_t bytes = 0;  // of one worker's message; of the gradient where nothing compresses
  std::uint64_t dense_bytes = 0;  // of the uncompressed gradient
  std::uint64_t small_bytes = 0;  // of small tensors, which are sent as they are
  std::uint64_t elements = 0;     // that the compressor gets; 0: nothing compresses
  bool summable = true;           // messages can be added as they are (Compressor::reducible)
  int all_reduces = 1;  // one after the other: PowerSGD's second factor needs the sum of the first
  std::vector<std::uint64_t> messages = {};  // bytes of each worker's message, if they differ
  // The same of the message that a worker makes of what it has added up. Where that is a part only,
  // as many bytes for each value of the whole bucket.
  std::vector<std::uint64_t> sums = {};

  std::uint64_t message_of(int worker) const {
    return messages.empty() ? bytes : messages[static_cast<std::size_t>(worker)];
  }
  std::uint64_t sum_of(int worker) const {
    return sums.empty() ? bytes : sums[static_cast<std::size_t>(worker)];
  }
};

// A gradient that nothing compresses.
inline Payload dense(std::uint64_t bytes) {
  return {.bytes = bytes, .dense_bytes = bytes};
}

struct Transfer {
  int peer = 0;             // a rank
  std::uint64_t bytes = 0;  // over all steps of the phase
};

// Where a phase stands in a pipeline. The engine executes the phases of one stage in a
// communication stream of its own, first in, first out, so that a stage works on the next bucket,
// and on the next partition of this one, while later stages are busy with what it has finished.
struct Stage {
  int place = 0;       // 0 .. stages - 1
  int stages = 1;      // 1: no pipeline, the phase is in the only stream
  int partitions = 1;  // partition p begins when partition p of the phase before it has ended
  int pass = 0;        // of all_reduces: begins when the one before has ended; has its own streams
  int in_flight = 0;   // buckets between the first and the last stage at a time; 0: no limit
  int fine_pieces =
      0;  // `fidelity = flow` cuts the partitions into so many pieces, if not into more

  int stream() const { return pass * stages + place; }
};

// Transfers that run side by side. With several `steps`, step s moves part s of each transfer cut
// evenly, and starts when what this rank receives in step s - 1 has arrived and what it sends is
// injected. `fidelity = flow` runs all steps as one flow per transfer and adds each step's latency
// and overhead.
struct Phase {
  std::string_view name;  // its verb in the trace: a string literal
  std::vector<Transfer> sends;
  std::vector<Transfer> receives;
  int steps = 1;
  // Ranks that start this phase together, because it cannot finish before all have arrived: a group
  // number that is unique in this plan, and the group's size. Size 0: no common start; always so
  // for one step.
  int group = 0;
  int group_size = 0;
  // A round of an all-to-all; with several `steps` it stands for as many: see with_fused_rounds.
  bool round = false;
  bool adds = false;  // in a pipeline: this rank adds up what it receives, in its host's memory
  Stage stage = {};
};

// Every member sends to one neighbour and receives from one, several steps long.
bool is_ring(const Phase& phase);

// `fidelity = flow` leaves as they are what takes so many messages, about: it is fast enough.
constexpr int few_messages = 2048;

// Whether the steps of a phase are one flow, where so many workers take part in the exchange.
bool is_fused(const Phase& phase, bool every_step, int workers);

// How a phase of a pipeline is executed. `fidelity = step`: partition after partition. `flow`: in a
// few pieces per stage, because a pipeline of S stages is the same in all but its first and last
// S - 1 rounds: S - 1 pieces are a partition, and the others are the rest. Those are last in the
// first stage and first in the last one. So piece p of a stage begins with a partition that piece p
// of the stage before has brought.
int pieces_of(const Stage& stage, bool every_step);
Phase piece_of(const Phase& phase, int piece, bool every_step);

// A compressor's work: makes messages (encode) or adds them into a sum (decode), one after the
// other, each of so many gradient values.
struct Work {
  enum class Kind { encode, decode } kind = Kind::encode;
  std::uint64_t elements = 0;
  int messages = 1;
};

inline Work encode(std::uint64_t elements) {
  return {.kind = Work::Kind::encode, .elements = elements};
}

inline Work decode(std::uint64_t elements, int messages = 1) {
  return {.kind = Work::Kind::decode, .elements = elements, .messages = messages};
}

// What a rank does, in this order: it moves data, or works on messages.
using Plan = std::vector<std::variant<Phase, Work>>;

// The first and the last action of a plan, if they are work: a worker's compute stream does these.
// Null if the action is a transfer; a single action counts as the first only.
const Work* first_work(const Plan& plan);
const Work* last_work(const Plan& plan);

// Who takes part: ranks 0, 1, ... are the workers, node by node; then come the servers.
struct Topology {
  std::vector<std::vector<int>> nodes;  // the workers of each node
  std::vector<int> node_of;             // of each worker
  int servers = 0;

  int workers() const { return static_cast<int>(node_of.size()); }
  int ranks() const { return workers() + servers; }
  // Of a worker and a server: more than an int holds where there are many of both.
  long long pairs() const { return static_cast<long long>(workers()) * servers; }
};

Topology make_topology(const std::vector<int>& workers_in_node, int servers);

struct Pushing {
  double partition_bytes = 0;  // that are pushed at a time, over all servers
  int in_flight = 0;           // buckets that a worker has under way; 0: all
};

struct Exchange {
  static constexpr const char* kind = "exchange";
  std::string name;
  std::string sentence;
  Help help = {};
  std::vector<Parameter> parameters = {};
  bool uses_servers = false;
  // Which messages it accepts. `sums`: those that can be added, because it adds them on the way, as
  // an all-reduce does. `any`: all, because it combines no messages before it has decoded them.
  // `sparse`: lists of (index, value), which it merges on the way.
  enum class Carries { sums, any, sparse } carries = Carries::sums;
  // The setting, as an option is written, by which it adds messages though it carries any; empty:
  // it does not. Null: never.
  std::string (*adds_by)(const Settings&) = nullptr;
  // How a bucket's gradient goes to servers that answer each push. Null: it has no servers.
  Pushing (*pushing)(const Settings&) = nullptr;
  // The part of `rank` in averaging the payload over all workers. Throws std::invalid_argument
  // if the exchange does not support this topology. Empty if there is nothing to do. The plan of an
  // exchange that does not carry sums also has the work on messages; the worker's communication
  // stream does the work between transfers.
  std::function<Plan(const Topology&, const Settings&, const Payload&, int rank)> plan;
  // The same bytes in fewer transfers, for `fidelity = flow`. Empty: the same plan.
  std::function<Plan(const Topology&, const Settings&, const Payload&, int rank)> flow_plan = {};
  // What it does with values: the sum over all workers that everybody has in the end, from decoded
  // messages alone. Empty: messages are added up and decoded once, and gradients that nothing
  // compresses are added. Called only for two workers or more.
  std::function<Values(const Topology&, const Settings&, const Contributions&)> combine = {};
};

// The complete plan, of every step or with fewer transfers. Exchanges that carry sums get one
// encode before and one decode after, and run `all_reduces` times on equal parts of the payload.
// With other exchanges, small tensors follow uncompressed in a ring all-reduce.
Plan plan_of(const Exchange& exchange, const Topology& topology, const Settings& settings,
             const Payload& payload, int rank, bool every_step = true);

// Bytes of parts first .. last - 1, if `bytes` are cut into `parts` that differ by at most one
// byte.
inline std::uint64_t shares(std::uint64_t bytes, int parts, int first, int last) {
  const auto p = static_cast<std::uint64_t>(parts);
  return bytes * static_cast<std::uint64_t>(last) / p -
         bytes * static_cast<std::uint64_t>(first) / p;
}

inline std::uint64_t share(std::uint64_t bytes, int parts, int i) {
  return shares(bytes, parts, i, i + 1);
}

// The largest of `parts` parts: every rank's work on its part takes as long as on this one.
inline std::uint64_t largest_share(std::uint64_t elements, int parts) {
  const auto p = static_cast<std::uint64_t>(parts);
  return (elements + p - 1) / p;
}

// How many pieces of `piece` bytes a buffer has: at least one, and at most a million, to bound the
// plan's size.
int pieces(std::uint64_t bytes, double piece);

// One rank's position in a ring, and its neighbours.
struct RingPlace {
  int position = 0;
  int size = 1;
  int next = 0;  // ranks
  int previous = 0;
};

// `ring` holds ranks.
RingPlace place_in(const std::vector<int>& ring, int position);
// In the ring of all workers, in node order.
RingPlace place_among_all(int workers, int rank);

// A worker's two rings: in its node, and with the workers of the same position in other nodes.
struct GridPlace {
  RingPlace inside;
  RingPlace across;
  int inside_group = 0;
  int across_group = 0;
};

// Throws std::invalid_argument that names the exchange, if nodes differ in size.
GridPlace place_in_grid(const Topology& topology, int rank, const std::string& exchange);

// The ring algorithms (Thakur, Rabenseifner, Gropp 2005): reduce-scatter leaves part `position` of
// the sum at each position, all-gather starts from there. Both: size - 1 steps of one part.
Phase ring_reduce_scatter(const RingPlace& place, std::uint64_t bytes, int group);
Phase ring_all_gather(const RingPlace& place, std::uint64_t bytes, int group);
// The same for parts of different sizes: parts[i] starts at position i.
Phase ring_all_gather(const RingPlace& place, const std::vector<std::uint64_t>& parts, int group);
// Of the workers at this position in their nodes, node by node: the bytes of each one's share of a
// message, which is the share of its position. Nodes have one size.
std::vector<std::uint64_t> shares_of_messages(const Topology& topology, const Payload& payload,
                                              int position);
// Each worker's share of a message of its own, to all workers.
Phase all_gather_of_sums(const Payload& payload, int workers, int rank);
// Reduce-scatter and all-gather have the same partners: together one phase, so one flow.
Phase ring_all_reduce(const RingPlace& place, std::uint64_t bytes, int group);

// All-to-all: in round s each worker sends to rank + s and receives from rank - s (modulo n). So no
// two send to the same worker at once, and a round has n flows. All n(n-1) flows at once would move
// as many bytes per second, but the engine would need ten times as long (128 workers); and they
// would pay one latency, where the papers count n-1.
void append_all_to_all(Plan& plan, std::string_view name, int workers, int rank,
                       const std::function<std::uint64_t(int from, int to)>& bytes);

// For `fidelity = flow`: at most eight evenly spaced distances on a circle of `size` places. Each
// carries the bytes for a range of distances, of which it is the middle.
struct DistanceRange {
  int middle, first, last;
};
std::vector<DistanceRange> representative_distances(int size, int most = 8);

bool nodes_of_one_size(const Topology& topology);

// For `fidelity = flow`, because a thousand workers have a million pairs: an all-to-all of more
// than seventeen workers runs every round that stays partly in a node, and of the others sixteen.
// Each of these has the bytes, and the steps, of those near it. Workers keep their bytes. Which
// places in their nodes exchange changes from round to round, as in all rounds together: so what
// the rounds have in common with the network (rails, sites, switches) keeps its proportions.
Plan with_fused_rounds(const Plan& plan, const Topology& topology);

}  // namespace syncline

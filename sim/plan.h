// What one rank does in one collective, as data. An exchange is a pure function that makes a Plan,
// so its volumes and its partners are tested without the engine; sim/engine/stream.cpp carries
// Plans out.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/registry.h"

namespace syncline {

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

// What is averaged: one bucket's gradient, and the message that stands for it.
struct Payload {
  std::uint64_t bytes = 0;  // of one worker's message; of the gradient where nothing compresses
  std::uint64_t dense_bytes = 0;  // of the gradient that it stands for
  std::uint64_t small_bytes = 0;  // of small tensors, which are sent as they are
  std::uint64_t elements = 0;     // that the compressor gets; 0: nothing compresses
  bool summable = true;           // messages can be added as they are (Compressor::reducible)
  int rounds = 1;  // of an all-reduce: PowerSGD's second factor needs the first's sum
  std::vector<std::uint64_t> messages = {};  // bytes of each worker's, where they differ

  std::uint64_t message_of(int worker) const {
    return messages.empty() ? bytes : messages[static_cast<std::size_t>(worker)];
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

// Transfers that run side by side. With several `steps`, step s moves part s of each transfer cut
// evenly, and starts when step s - 1 has ended for this rank and for its peers. `fidelity = flow`
// runs all steps as one flow per transfer and pays each step's latency and overhead.
struct Phase {
  std::string_view name;  // its verb in the trace: a string literal
  std::vector<Transfer> sends;
  std::vector<Transfer> receives;
  int steps = 1;
  // Ranks that begin this phase together, because no step of it can end before all have arrived:
  // any number that only they use in this plan, and how many they are. None (size 0) where the
  // messages themselves make a rank wait, and always the case for one step.
  int group = 0;
  int group_size = 0;
  bool round = false;  // one of an all-to-all's, which follow each other: see with_fused_rounds
};

// A compressor's work: messages of so many gradient values each are made (encode) or added into a
// sum (decode), one after the other.
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

// What a rank does, one after the other: it moves data, or works on messages.
using Plan = std::vector<std::variant<Phase, Work>>;

// The work that a plan begins with, and ends with: a worker's compute stream does these. Null where
// it is a transfer, or the plan has nothing else.
const Work* first_work(const Plan& plan);
const Work* last_work(const Plan& plan);

// Who takes part: workers are the ranks from 0, node by node; servers follow.
struct Topology {
  std::vector<std::vector<int>> nodes;  // the workers of each node
  std::vector<int> node_of;             // of each worker
  int servers = 0;

  int workers() const { return static_cast<int>(node_of.size()); }
  int ranks() const { return workers() + servers; }
};

Topology make_topology(const std::vector<int>& workers_in_node, int servers);

struct Exchange {
  static constexpr const char* kind = "exchange";
  std::string name;
  std::string sentence;
  std::vector<Parameter> parameters;
  bool uses_servers = false;
  // What its messages can be. `sums`: it adds them on the way, as an all-reduce does, so only
  // what is summable. `any`: it hands them on whole. `sparse`: it reads and merges lists of
  // (index, value) on the way.
  enum class Carries { sums, any, sparse } carries = Carries::sums;
  // The part of `rank` in averaging the payload over all workers. Throws std::invalid_argument
  // where the exchange cannot serve this topology. Empty when there is nothing to do. An exchange
  // that does not carry sums also says where messages are made and read; work in between transfers
  // is done by the worker's communication stream.
  std::function<Plan(const Topology&, const Settings&, const Payload&, int rank)> plan;
};

// The whole plan: exchanges that carry sums get one message made before and one read after, and go
// round as often as the payload needs, with an even part of it each time. With others, small
// tensors go round a ring of their own after the messages.
Plan plan_of(const Exchange& exchange, const Topology& topology, const Settings& settings,
             const Payload& payload, int rank);

// Parts first .. last - 1 of `bytes` cut into `parts` that differ by at most one byte.
inline std::uint64_t shares(std::uint64_t bytes, int parts, int first, int last) {
  const auto p = static_cast<std::uint64_t>(parts);
  return bytes * static_cast<std::uint64_t>(last) / p -
         bytes * static_cast<std::uint64_t>(first) / p;
}

inline std::uint64_t share(std::uint64_t bytes, int parts, int i) {
  return shares(bytes, parts, i, i + 1);
}

// The largest of `parts` parts: what a rank's work on one of them is priced at.
inline std::uint64_t largest_share(std::uint64_t elements, int parts) {
  const auto p = static_cast<std::uint64_t>(parts);
  return (elements + p - 1) / p;
}

// How many pieces of `piece` bytes a buffer makes: at least one, and at most a million, beyond
// which they would only be counted.
int pieces(std::uint64_t bytes, double piece);

// A place in a ring of ranks.
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

// A worker's two rings: in its node, and of the workers that have the same place in their nodes.
struct GridPlace {
  RingPlace inside;
  RingPlace across;
  int inside_group = 0;
  int across_group = 0;
};

// Throws std::invalid_argument, naming the exchange, when nodes differ in size.
GridPlace place_in_grid(const Topology& topology, int rank, const std::string& exchange);

// The ring algorithms (Thakur, Rabenseifner, Gropp 2005): reduce-scatter leaves part `position` of
// the sum at each place, all-gather starts from there. Both: size - 1 steps of one part.
Phase ring_reduce_scatter(const RingPlace& place, std::uint64_t bytes, int group);
Phase ring_all_gather(const RingPlace& place, std::uint64_t bytes, int group);
// The same for parts that differ: parts[i] starts at place i.
Phase ring_all_gather(const RingPlace& place, const std::vector<std::uint64_t>& parts, int group);
// Reduce-scatter and all-gather have the same partners: together one phase, so one flow.
Phase ring_all_reduce(const RingPlace& place, std::uint64_t bytes, int group);

// Everybody has something for everybody: in round s each worker sends to the one s places on and
// hears from the one s places back. So no two send to the same worker at once, and a round has n
// flows: as many bytes a second as with all n(n-1) at once, in a tenth of the engine's time (128
// workers), but n-1 latencies, which is what the papers count.
void append_all_to_all(Plan& plan, std::string_view name, int workers, int rank,
                       const std::function<std::uint64_t(int from, int to)>& bytes);

// The rounds of an all-to-all as one phase of as many steps, for `fidelity = flow`: a thousand
// workers have a million pairs. A worker keeps a flow to each of the others in its node, and to one
// worker of each other node with the bytes for all of them there. Of more than eight distances,
// eight evenly spaced ones stand for those around them, so that each flow loads the network as one
// of the rounds does. Bytes out of and into each worker, and within its node, stay what they are.
// All begin together, as nobody has everything before the last has come. Rounds stay rounds where
// nodes differ in size, as there is no such pattern.
Plan with_fused_rounds(const Plan& plan, const Topology& topology, int rank);

}  // namespace syncline

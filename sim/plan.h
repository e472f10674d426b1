// A Plan is what one rank does in one collective, as data. An exchange is a pure function that
// makes it, of what sim/collectives.h offers: so its volumes and its partners are tested without
// the engine, whose streams execute it (sim/engine/stream.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "kernels/registry.h"
#include "sim/values.h"
#include "sim/verb.h"

namespace syncline {

// Ranks, nodes, servers and buckets are ints from 0; what is kept of each, in a vector, is not.
inline std::size_t index(int i) {
  return static_cast<std::size_t>(i);
}

// A server's part of a bucket, where servers hold whole tensors.
struct ServerPart {
  std::uint64_t before = 0;  // parameters of the servers before it
  std::uint64_t parameters = 0;
  int tensors = 0;
};

// By server; empty: each holds an equal share of every tensor.
using ServerParts = std::vector<ServerPart>;

// Of a message of the bucket, so many bytes are this server's.
std::uint64_t part_of(const ServerParts& parts, std::uint64_t bytes, int servers, int server);

// Of a bucket of so many tensors, these are in the server's part.
inline int tensors_of(const ServerParts& parts, int tensors, int server) {
  return parts.empty() ? tensors : parts[index(server)].tensors;
}

// One gradient transfer: neighbouring tensors, in the order in which backward produces them.
struct Bucket {
  int index = 0;  // 0 is produced first
  std::uint64_t parameters = 0;
  std::uint64_t small_parameters = 0;  // of these, in tensors too small to compress
  double forward_flop = 0;             // per sample; backward costs twice this
  double again_flop = 0;               // and this: of forward, computed once more
  int tensors = 0;
  std::string first;  // names of its first and last layer, in backward order
  std::string last;
  ServerParts parts;
  double waits_s = 0;  // after its last gradient is there, for the end of a cycle

  // So many tensors are in a server's part of its messages.
  int tensors_of(int server) const { return syncline::tensors_of(parts, tensors, server); }
};

// A payload is what is averaged: one bucket's gradient, and the message that is sent for it.
struct Payload {
  std::uint64_t bytes = 0;  // of one worker's message; of the gradient where nothing compresses
  std::uint64_t dense_bytes = 0;  // of the uncompressed gradient
  std::uint64_t small_bytes = 0;  // of small tensors, which are sent as they are
  std::uint64_t elements = 0;     // that the compressor gets; 0: nothing compresses
  bool summable = true;           // messages can be added as they are (Compressor::reducible)
  int all_reduces = 1;  // one after the other: PowerSGD's second factor needs the sum of the first
  std::vector<std::uint64_t> messages = {};  // bytes of each worker's message, if they differ
  // Each worker's message of what it has added up has these bytes. Where that is a share only, it
  // has as many bytes for each value as it would have of the whole bucket.
  std::vector<std::uint64_t> sums = {};
  int tensors = 0;         // of the bucket
  ServerParts parts = {};  // of it

  std::uint64_t message_of(int worker) const {
    return messages.empty() ? bytes : messages[index(worker)];
  }
  // So many bytes of a server's part of messages have so many tensors: a node's gradient counts
  // once, however many of its workers push it.
  double tensors_in(double message_bytes, int servers, int server) const;
  std::uint64_t sum_of(int worker) const { return sums.empty() ? bytes : sums[index(worker)]; }
};

// A gradient that nothing compresses.
inline Payload dense(std::uint64_t bytes) {
  return {.bytes = bytes, .dense_bytes = bytes};
}

struct Transfer {
  int peer = 0;             // a rank
  std::uint64_t bytes = 0;  // over all steps of the phase
};

// A stage says where a phase stands in a pipeline. The engine executes the phases of one stage in a
// communication stream of its own, first in, first out, so that a stage works on the next bucket,
// and on the next partition of this one, while later stages are busy with what it has finished.
struct Stage {
  int place = 0;       // 0 .. stages - 1
  int stages = 1;      // 1: no pipeline, the phase is in the only stream
  int partitions = 1;  // partition p begins when partition p of the phase before it has ended
  int pass = 0;        // of all_reduces: begins when the one before has ended on all channels; in a
                       // pipeline it has its own streams
  int in_flight = 0;   // buckets between the first and the last stage at a time; 0: no limit
  int fine_pieces = 0;  // `fidelity = flow` has at least so many pieces, if so many partitions
  int channel = 0;      // no pipeline: its ring or tree, whose phases follow each other in a stream

  int stream() const { return stages > 1 ? pass * stages + place : channel; }
};

// Transfers that run side by side. With several `steps`, step s moves share s of each transfer, and
// starts when what this rank receives in step s - 1 has arrived and what it sends is injected.
// `fidelity = flow` runs all steps as one flow per transfer and adds each step's latency and
// overhead.
struct Phase {
  Verb verb = Verb::all_reduce;  // in the trace
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

// A rank does this in this order: it moves data, or works on messages.
using Plan = std::vector<std::variant<Phase, Work>>;

// The first and the last action of a plan, if they are work: a worker's compute stream does these.
// Null if the action is a transfer; a single action counts as the first only.
const Work* first_work(const Plan& plan);
const Work* last_work(const Plan& plan);

// Workers average with all others, with those of their node or of their site (host property
// `site`), or with those of the same place in all nodes, which have one size then.
enum class Among { all, node, site, place };

// An exchange averages; some can do each half of it alone.
enum class CollectiveKind { all_reduce, reduce_scatter, all_gather };

// A channel (NCCL's word) is a way through all workers, node by node. Each has a share of every
// message, and goes through the workers of a node in an order of its own, so that it leaves the
// node by another network card.
struct Channel {
  std::vector<int> ring;      // ranks
  std::vector<int> place_of;  // of each worker in it
};

// These take part: ranks 0, 1, ... are the workers, node by node; then come the servers.
struct Topology {
  std::vector<std::vector<int>> nodes;  // the workers of each node
  std::vector<int> node_of;             // of each worker
  int servers = 0;
  std::size_t node_size = 0;           // workers of every node; 0: nodes differ
  std::vector<int> site_of = {};       // of each worker; empty: some host has no site
  std::vector<Channel> channels = {};  // empty: one, in the order of ranks

  int channel_count() const { return channels.empty() ? 1 : static_cast<int>(channels.size()); }
  int workers() const { return static_cast<int>(node_of.size()); }
  int ranks() const { return workers() + servers; }
  const std::vector<int>& node_with(int worker) const {
    return nodes[index(node_of[index(worker)])];
  }
  // So many pairs of a worker and a server there are: more than an int holds where both are many.
  long long pairs() const { return static_cast<long long>(workers()) * servers; }
  // The number of the worker's group; groups are numbered by their first worker.
  int group_of(Among group, int worker) const;
  // Those in the worker's group, in order.
  std::vector<int> members(Among group, int worker) const;
  // These workers alone, as ranks 0, 1, ..., on their nodes.
  Topology only(const std::vector<int>& members) const;
};

Topology make_topology(const std::vector<int>& workers_in_node, int servers);

// Of one or more channels, each in the order of its ring.
std::vector<Channel> channels_of(std::vector<std::vector<int>> rings);

struct Pushing {
  double partition_bytes = 0;  // that are pushed at a time, over all servers
  int in_flight = 0;           // buckets that a worker has under way; 0: all
};

struct Exchange {
  static constexpr const char* kind = "exchange";
  std::string name;
  std::string sentence;
  Help help = {};
  std::vector<OwnOption> options = {};
  bool uses_servers = false;
  bool has_channels = false;  // it cuts what it sends over the topology's channels
  // It accepts these messages. `sums`: those that can be added, because it adds them on the way, as
  // an all-reduce does. `any`: all, because it combines no messages before it has decoded them.
  // `sparse`: lists of (index, value), which it merges on the way.
  enum class Carries { sums, any, sparse } carries = Carries::sums;
  // The setting by which it adds messages though it carries any; empty: it does not. Null: never.
  std::string (*adds_by)(const Settings&) = nullptr;
  // Says how a bucket's gradient goes to servers that answer each push. Null: it has no servers.
  Pushing (*pushing)(const Settings&) = nullptr;
  // Makes what `rank` does to average the payload over all workers. Throws std::invalid_argument
  // if the exchange does not support this topology. Empty if there is nothing to do. The plan of an
  // exchange that does not carry sums also has the work on messages; the worker's communication
  // stream does the work between transfers.
  std::function<Plan(const Topology&, const Settings&, const Payload&, int rank)> plan;
  // Makes a plan of the same bytes in fewer transfers, for `fidelity = flow`. Empty: the same plan.
  std::function<Plan(const Topology&, const Settings&, const Payload&, int rank)> flow_plan = {};
  // The halves of an all-reduce, for schedules in which workers hold shares: each rank ends with,
  // or begins with, the share of its place. Empty: it has none.
  std::function<Plan(const Topology&, const Settings&, const Payload&, int rank)> reduce_scatter =
      {};
  std::function<Plan(const Topology&, const Settings&, const Payload&, int rank)> all_gather = {};
  // Does it with values: this is the sum over all workers that everybody has in the end, from
  // decoded messages alone. Empty: messages are added up and decoded once, and gradients that
  // nothing compresses are added. Called only for two workers or more.
  std::function<Values(const Topology&, const Settings&, const Contributions&)> combine = {};
};

// One of several that the cheapest is chosen from.
struct CandidateExchange {
  const Exchange* exchange = nullptr;
  Settings settings;
};

// The complete plan, of every step or with fewer transfers. Exchanges that carry sums get one
// encode before and one decode after, and run `all_reduces` times on equal shares of the payload.
// With other exchanges, small tensors follow uncompressed in a ring all-reduce.
Plan plan_of(const Exchange& exchange, const Topology& topology, const Settings& settings,
             const Payload& payload, int rank, bool every_step = true);

}  // namespace syncline

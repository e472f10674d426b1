// A Plan is what one rank does in one collective, as data. An exchange is a pure function that
// makes the plan from the building blocks of sim/collectives.h, so its volumes and partners are
// tested without the engine. The engine's streams execute the plan (sim/engine/stream.cpp).
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

// Ranks, nodes, servers and buckets are ints from 0; vectors are indexed by std::size_t.
inline std::size_t index(int i) {
  return static_cast<std::size_t>(i);
}

// A server's part of a bucket, if servers hold whole tensors.
struct ServerPart {
  std::uint64_t before = 0;  // parameters of the servers before it
  std::uint64_t parameters = 0;
  int tensors = 0;
};

// By server; empty: each server holds an equal share of every tensor.
using ServerParts = std::vector<ServerPart>;

// Bytes of a server's part of a message of the bucket.
std::uint64_t part_of(const ServerParts& parts, std::uint64_t bytes, int servers, int server);

// Tensors in a server's part of a bucket that has `tensors` tensors.
inline int tensors_of(const ServerParts& parts, int tensors, int server) {
  return parts.empty() ? tensors : parts[index(server)].tensors;
}

// One gradient transfer: neighbouring tensors, in the order in which backward produces them.
struct Bucket {
  int index = 0;  // 0 is produced first
  std::uint64_t parameters = 0;
  std::uint64_t small_parameters = 0;  // of these, in tensors too small to compress
  double forward_flop = 0;             // per sample; backward costs twice this
  double again_flop = 0;  // backward costs this besides: the part of forward that it computes again
  int tensors = 0;
  std::vector<TensorShape> shapes;  // of the tensors to compress; empty: the model has no shapes
  std::string first;                // names of its first and last layer, in backward order
  std::string last;
  ServerParts parts;
  // Tensors that a fusion cycle sends together: compressed one by one, decoded together. Empty:
  // they are compressed together, too.
  std::vector<Bucket> apart;
  double waits_s = 0;  // after its last gradient is ready, for the end of a fusion cycle
  // Seconds of compressing `apart` that a second core has done when backward makes the last tensor.
  double hidden_s = 0;

  // Tensors in a server's part of the bucket's messages.
  int tensors_of(int server) const { return syncline::tensors_of(parts, tensors, server); }
};

// What is averaged: one bucket's gradient, and the message that is sent for it.
struct Payload {
  std::uint64_t bytes = 0;  // of one worker's message; of the gradient if nothing compresses it
  std::uint64_t dense_bytes = 0;  // of the uncompressed gradient
  std::uint64_t small_bytes = 0;  // of small tensors, which are sent uncompressed
  std::uint64_t elements = 0;     // given to the compressor; 0: nothing compresses
  bool summable = true;           // messages can be added as they are (Compressor::reducible)
  int all_reduces = 1;  // in sequence: PowerSGD's second factor needs the sum of the first
  std::vector<std::uint64_t> messages = {};  // bytes of each worker's message, if they differ
  // Bytes of the message each worker makes of its partial sum, scaled to the whole bucket.
  std::vector<std::uint64_t> sums = {};
  int tensors = 0;         // of the bucket
  ServerParts parts = {};  // of the bucket

  std::uint64_t message_of(int worker) const {
    return messages.empty() ? bytes : messages[index(worker)];
  }
  // Tensors in `message_bytes` of messages of a server's part. A node's gradient counts once,
  // however many of its workers push it.
  double tensors_in(double message_bytes, int servers, int server) const;
  std::uint64_t sum_of(int worker) const { return sums.empty() ? bytes : sums[index(worker)]; }
  // Adds a payload that is sent with this one.
  void add(const Payload& other, int workers);
};

// The payload of an uncompressed gradient.
inline Payload dense(std::uint64_t bytes) {
  return {.bytes = bytes, .dense_bytes = bytes};
}

struct Transfer {
  int peer = 0;             // a rank
  std::uint64_t bytes = 0;  // over all steps of the phase
};

// The place of a phase in a pipeline. The engine executes the phases of each stage in a
// communication stream of their own, first in, first out. A stage therefore works on the next
// bucket, or on the next partition of this one, while later stages process what it has finished.
struct Stage {
  int place = 0;       // 0 .. stages - 1
  int stages = 1;      // 1: no pipeline, the phase is in the only stream
  int partitions = 1;  // partition p begins when partition p of the phase before it has ended
  // Which of the payload's all_reduces: it begins when the previous one has ended on all channels.
  // In a pipeline each has its own streams.
  int pass = 0;
  int in_flight = 0;  // buckets between the first and the last stage at a time; 0: no limit
  // Least number of pieces with `fidelity = flow`, if there are as many partitions.
  int fine_pieces = 0;
  // Without a pipeline: its ring or tree; the phases of one follow each other in a stream.
  int channel = 0;
  int channels = 1;  // that carry the payload side by side

  int stream() const { return stages > 1 ? pass * stages + place : channel; }
};

// Transfers that run side by side. With several `steps`, step s moves share s of each transfer.
// Step s starts when this rank's receives of step s - 1 have arrived and its sends are injected.
// `fidelity = flow` runs all steps as one flow per transfer and adds each step's latency and
// overhead.
struct Phase {
  Verb verb = Verb::all_reduce;  // in the trace
  std::vector<Transfer> sends;
  std::vector<Transfer> receives;
  int steps = 1;
  // Ranks that start this phase together, because it cannot finish before all have arrived. The
  // group's number is unique in this plan. Size 0: no common start; always so for one step.
  int group = 0;
  int group_size = 0;
  // A round of an all-to-all; with several `steps` it stands for that many rounds: see
  // with_fused_rounds.
  bool round = false;
  bool adds = false;  // in a pipeline: this rank adds up what it receives, in its host's memory
  // Its place among the phases of all ranks, of which a rank may have some only; -1: all have all.
  int turn = -1;
  Stage stage = {};
  // What a collective library makes of it (sim/traffic/nccl_choice.h).
  double before_s = 0;      // its software takes these seconds before the first step
  double latency_part = 1;  // of its routes' latencies, that each step waits for
};

// Whether every member sends to one neighbour and receives from one, in several steps.
bool is_ring(const Phase& phase);

// A compressor's work on messages, one after the other: making them (encode) or adding them into a
// sum (decode), each of `elements` gradient values.
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

// A rank's actions in order: each moves data, or works on messages.
using Plan = std::vector<std::variant<Phase, Work>>;

// The first and the last action of a plan, if they are work, which a worker's compute stream does.
// Null if the action is a transfer; a single action counts as the first only.
const Work* first_work(const Plan& plan);
const Work* last_work(const Plan& plan);

// The workers that average together: all; those of a node; those of a site (host property `site`);
// or those at the same place in all nodes, which must have one size.
enum class Among { all, node, site, place };

// An exchange averages; some exchanges can do each half of it alone.
enum class CollectiveKind { all_reduce, reduce_scatter, all_gather };

// A channel (NCCL's term) is a path through all workers, node by node. Each channel carries a share
// of every message and goes through a node's workers in its own order, so it leaves the node by
// another network card.
struct Channel {
  std::vector<int> ring;      // ranks
  std::vector<int> place_of;  // position in it, by worker
};

// The participants. Ranks 0, 1, ... are the workers, node by node; then come the servers.
struct Topology {
  std::vector<std::vector<int>> nodes;  // the workers of each node
  std::vector<int> node_of;             // of each worker
  int servers = 0;
  std::size_t node_size = 0;           // workers of every node; 0: nodes differ
  std::vector<int> site_of = {};       // of each worker; empty: at least one host has no site
  std::vector<Channel> channels = {};  // empty: one, in the order of ranks

  int channel_count() const { return channels.empty() ? 1 : static_cast<int>(channels.size()); }
  int workers() const { return static_cast<int>(node_of.size()); }
  int ranks() const { return workers() + servers; }
  const std::vector<int>& node_with(int worker) const {
    return nodes[index(node_of[index(worker)])];
  }
  // Pairs of a worker and a server: more than an int holds if both are many.
  long long pairs() const { return static_cast<long long>(workers()) * servers; }
  // The number of the worker's group; groups are numbered by their first worker.
  int group_of(Among group, int worker) const;
  // The workers of that group, in order.
  std::vector<int> members(Among group, int worker) const;
  // A topology of these workers alone, as ranks 0, 1, ..., on their nodes.
  Topology only(const std::vector<int>& members) const;
};

Topology make_topology(const std::vector<int>& workers_in_node, int servers);

// One channel per ring.
std::vector<Channel> channels_of(std::vector<std::vector<int>> rings);

struct Pushing {
  double partition_bytes = 0;  // that are pushed at a time, over all servers
  int in_flight = 0;           // buckets that a worker has under way; 0: no limit
};

struct Exchange {
  static constexpr const char* kind = "exchange";
  std::string name;
  std::string sentence;
  Help help = {};
  std::vector<OwnOption> options = {};
  bool uses_servers = false;
  bool has_channels = false;  // splits its messages over the topology's channels
  // The messages that it accepts. `sums`: those that can be added, because the exchange adds them
  // on the way, as an all-reduce does. `any`: all, because the exchange combines no messages before
  // it has decoded them. `sparse`: lists of (index, value), which the exchange merges on the way.
  enum class Carries { sums, any, sparse } carries = Carries::sums;
  // The setting with which an exchange that carries any messages adds them; empty: it adds none.
  // Null: never.
  std::string (*adds_by)(const Settings&) = nullptr;
  // How a bucket's gradient goes to servers that answer each push. Null: there are no servers.
  Pushing (*pushing)(const Settings&) = nullptr;
  // What `rank` does to average the payload over all workers; empty if there is nothing to do.
  // Throws std::invalid_argument if the exchange does not support this topology. The plan of an
  // exchange that does not carry sums includes the work on messages, which the worker's
  // communication stream does between transfers.
  std::function<Plan(const Topology&, const Settings&, const Payload&, int rank)> plan;
  // A plan of the same bytes in fewer transfers, for `fidelity = flow`. Empty: the same plan.
  std::function<Plan(const Topology&, const Settings&, const Payload&, int rank)> flow_plan = {};
  // The halves of an all-reduce, for schedules whose workers hold shares: each rank ends with, or
  // begins with, the share of its place. Empty: the exchange has no halves.
  std::function<Plan(const Topology&, const Settings&, const Payload&, int rank)> reduce_scatter =
      {};
  std::function<Plan(const Topology&, const Settings&, const Payload&, int rank)> all_gather = {};
  // The sum over all workers that every worker has in the end, computed from decoded messages
  // alone. Empty: messages are added up and decoded once, and uncompressed gradients are added.
  // Called only for two workers or more.
  std::function<Values(const Topology&, const Settings&, const Contributions&)> combine = {};
};

// One of the exchanges from which the cheapest is chosen.
struct CandidateExchange {
  const Exchange* exchange = nullptr;
  Settings settings;
};

// The complete plan, of every step or with fewer transfers. Exchanges that carry sums get one
// encode before and one decode after, and run `all_reduces` times on equal shares of the payload.
// With other exchanges, a ring all-reduce of the uncompressed small tensors follows.
Plan plan_of(const Exchange& exchange, const Topology& topology, const Settings& settings,
             const Payload& payload, int rank, bool every_step = true);

}  // namespace syncline

// Cluster, exchange and compression of one scenario together. All transfers and work of an
// iteration follow from this alone, without the engine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "sim/collectives.h"
#include "sim/plan.h"
#include "sim/scenario.h"
#include "sim/schedule.h"
#include "sim/traffic/cluster.h"
#include "sim/traffic/compression.h"

namespace syncline {

// Size of a control message: a node's iteration number, a request for its sum, or a worker's
// question for parameters.
constexpr std::uint64_t control_bytes = 64;

// How a bucket's gradient is cut into `pieces` for servers that answer each push. With `fidelity =
// step` a piece is a partition. With `flow` the first pushed piece and the last answered piece are
// one partition each, and the others share the rest, so pushes and answers take equally long.
struct PushedPieces {
  int partitions = 1;
  int pieces = 1;

  // Partitions pushed before this piece.
  int before(int piece) const {
    return piece == 0 ? 0
                      : 1 + static_cast<int>(static_cast<long long>(partitions - 1) * (piece - 1) /
                                             std::max(pieces - 1, 1));
  }
  int partitions_in(int piece) const { return before(piece + 1) - before(piece); }
  std::uint64_t pushed(std::uint64_t bytes, int piece) const {
    return shares(bytes, partitions, before(piece), before(piece + 1));
  }
  std::uint64_t answered(std::uint64_t bytes, int piece) const {
    const int last = pieces - 1;
    return shares(bytes, partitions,
                  piece == last && last > 0 ? partitions - 1 : before(piece + 1) - 1,
                  piece == last ? partitions : before(piece + 2) - 1);
  }
};

// Bytes of a message that is `scale` times as long as expected.
inline std::uint64_t scaled(std::uint64_t bytes, double scale) {
  return scale == 1 ? bytes : static_cast<std::uint64_t>(static_cast<double>(bytes) * scale + 0.5);
}

// Another exchange for the payloads of one size.
struct PickedExchange {
  std::size_t candidate = 0;  // its index
  double before_s = 0;        // Phase::before_s
  double latency_part = 1;    // Phase::latency_part
  double wire = 1;            // bytes on the wire per byte of the payload
  int steps = 0;              // of all transfers together; 0: as the candidate has them
};

struct Traffic {
  Cluster cluster;
  Schedule::Partners partners = Schedule::Partners::each_other;
  decltype(Schedule::neighbours) neighbours = nullptr;
  Settings schedule_settings;
  const Exchange* exchange = nullptr;
  Settings exchange_settings;
  // `exchange = auto` or `nccl`: payloads of the sizes in `picked` take another exchange than
  // `exchange`.
  std::vector<CandidateExchange> candidates;
  std::map<std::uint64_t, PickedExchange> picked;  // by bytes
  bool picks_nearest = false;  // other sizes take the choice of the next larger size, or the last
  Pushing pushing;             // to servers that answer each push
  Compression compression;
  Precision precision = Precision::fp32;
  bool compressed_pulls = false;
  bool every_step = false;  // also set by `fidelity = auto`: see sim/engine/fidelity.h
  double step_overhead_s = 0;
  double host_memory_Bps = 0;
  double server_overhead_s = 0;  // of one core, for each tensor of a message
  int round = 1;                 // one in this many iterations sends (Schedule::round)
  bool asks = false;             // servers are asked for parameters (Schedule::own_parameters)
  Among over = Among::all;       // the group over which it averages
  CollectiveKind collective = CollectiveKind::all_reduce;

  std::uint64_t bytes_of(const Bucket& bucket) const;
  // Gradient values of a bucket that the compressor gets; shard_of(): a server's part of them.
  std::uint64_t compressed_of(const Bucket& bucket) const {
    return bucket.parameters - bucket.small_parameters;
  }
  // Values that one worker encodes for a bucket: a part of it, if its node adds first.
  std::uint64_t encoded_of(const Bucket& bucket) const;
  std::uint64_t shard_of(const Bucket& bucket) const;
  // Seconds that the software of this rank, if it is a server, takes for these bytes of its
  // messages.
  double handling_s(const Payload& payload, int rank, double bytes, int cores) const;
  // The payload sent for a bucket's gradient in an iteration. -1: after warm-up, with the expected
  // size.
  Payload payload_of(const Bucket& bucket, int iteration) const;
  // Seconds of the slowest worker for compressing the bucket's `apart` one by one, after warm-up.
  double compress_apart_s(const Bucket& bucket) const;
  // Bytes of the servers' answer: dense parameters, or differences in a message `scale` times as
  // long as the payload's; plus small tensors, uncompressed.
  std::uint64_t pulled_bytes(const Payload& payload, double scale = 1) const;
  // How a bucket is cut; a compressed gradient is one piece.
  PushedPieces cut_of(const Bucket& bucket) const;
  // The plan of one rank for this payload; fuses rounds unless every step is simulated.
  Plan plan_of(const Payload& payload, int rank) const {
    return plan_of(payload, rank, every_step);
  }
  Plan plan_of(const Payload& whole, int rank, bool every_step) const;
  // Number of ranks that have a plan: workers, and servers if the exchange uses them.
  int averaging_ranks() const;

  // Calls `moves(from, to, bytes)` and `works(rank, work)` for everything that these ranks, and the
  // servers and aggregators that they send to, do with one bucket in an iteration. Leaves out
  // messages between aggregators and servers, whose number depends on the run. Either function may
  // be empty.
  using Moves = std::function<void(int from, int to, std::uint64_t bytes)>;
  using Works = std::function<void(int rank, const Work& work)>;
  void for_each_activity(const Bucket& bucket, const std::vector<int>& ranks, const Moves& moves,
                         const Works& works) const;
  // Calls `moves` once for each pair of ranks that exchange any of these buckets, with all bytes of
  // an iteration: there may be 161 buckets and a million pairs.
  using PairMoves = std::function<void(int from, int to, double bytes)>;
  void for_each_pair(const std::vector<Bucket>& buckets, const std::vector<int>& ranks,
                     const PairMoves& moves) const;
  // Like for_each_activity(), as if the exchange averaged the bucket, whatever the schedule is.
  void for_each_activity_of_average(const Bucket& bucket, const std::vector<int>& ranks,
                                    const Moves& moves, const Works& works) const;

 private:
  Plan plan_among(const Topology& topology, const Payload& payload, int rank,
                  bool every_step) const;
};

Traffic traffic_of(const Scenario& scenario, Cluster cluster, Compression compression);

// The traffic of this cluster if it averages with this exchange and without compression. Keeps the
// settings if the exchange is the same.
Traffic dense_traffic(const Traffic& traffic, const Exchange& exchange);

// The traffic of workers that average every gradient within their groups, uncompressed, with this
// exchange. Throws std::invalid_argument if the exchange does not support a group, or if groups are
// sites and a worker has none.
Traffic traffic_within(const Traffic& traffic, Among group, const Exchange& exchange);

// The traffic of half an all-reduce within groups; or, over Among::place, of an all-reduce of each
// shard among the workers at one place in all nodes. Throws std::invalid_argument if nodes must
// have one size and do not.
Traffic traffic_of_shards(const Traffic& traffic, Among group, CollectiveKind collective);

// 0 .. count - 1.
std::vector<int> first_ranks(int count);

}  // namespace syncline

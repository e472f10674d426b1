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

// A bucket's gradient goes to servers that answer each push in `pieces`. With `fidelity =
// step` a piece is a partition. With `flow` the first that is pushed is one, the last that is
// answered is one, and the others share the rest: so pushes and answers take as long.
struct PushedPieces {
  int partitions = 1;
  int pieces = 1;

  // Partitions before a piece that is pushed.
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

// Bytes of a message that is so many times as long as expected.
inline std::uint64_t scaled(std::uint64_t bytes, double scale) {
  return scale == 1 ? bytes : static_cast<std::uint64_t>(static_cast<double>(bytes) * scale + 0.5);
}

struct Traffic {
  Cluster cluster;
  Schedule::Partners partners = Schedule::Partners::each_other;
  const Exchange* exchange = nullptr;
  Settings exchange_settings;
  // `exchange = auto`: payloads of so many bytes take another one than `exchange`.
  std::vector<CandidateExchange> candidates;
  std::map<std::uint64_t, std::size_t> picked;  // index of a candidate, by bytes
  bool picks_nearest = false;  // payloads of other sizes take that of the next larger size, or last
  Pushing pushing;             // to servers that answer each push
  Compression compression;
  Precision precision = Precision::fp32;
  bool compressed_pulls = false;
  bool every_step = false;  // what `fidelity = auto` came to, too: see sim/engine/fidelity.h
  double step_overhead_s = 0;
  double host_memory_Bps = 0;
  double server_overhead_s = 0;  // of one core, for each tensor of a message
  int round = 1;                 // iterations of which one sends
  Among over = Among::all;       // whom its averages are over
  CollectiveKind collective = CollectiveKind::all_reduce;

  std::uint64_t bytes_of(const Bucket& bucket) const;
  // Gradient values of a bucket that the compressor gets, and each server's part of them.
  std::uint64_t compressed_of(const Bucket& bucket) const {
    return bucket.parameters - bucket.small_parameters;
  }
  // One worker makes messages of so many values for a bucket: of a part, where a node adds first.
  std::uint64_t encoded_of(const Bucket& bucket) const;
  std::uint64_t shard_of(const Bucket& bucket) const;
  // The software of this rank, if it is a server, takes so long for so many bytes of its messages.
  double handling_s(const Payload& payload, int rank, double bytes, int cores) const;
  // This is sent for a bucket's gradient in an iteration; -1: after warm-up, with the expected
  // size.
  Payload payload_of(const Bucket& bucket, int iteration) const;
  // Bytes of the servers' answer: parameters, or differences as a message that is `scale` times as
  // long as the payload's, and small tensors as they are.
  std::uint64_t pulled_bytes(const Payload& payload, double scale = 1) const;
  // A compressed gradient is one piece.
  PushedPieces cut_of(const Bucket& bucket) const;
  // The plan of one rank for this payload, with fused rounds unless every step is simulated.
  Plan plan_of(const Payload& payload, int rank) const {
    return plan_of(payload, rank, every_step);
  }
  Plan plan_of(const Payload& whole, int rank, bool every_step) const;
  bool has_channels() const {
    return exchange->has_channels && cluster.topology.channel_count() > 1;
  }
  // Ranks that have a plan: workers, and servers if the exchange uses them.
  int averaging_ranks() const;

  // Calls `moves(from, to, bytes)` and `works(rank, work)` for everything that these ranks do with
  // one bucket in an iteration, and the servers and aggregators that they send to. Leaves out what
  // aggregators and servers send each other, which depends on the run. Either may be empty.
  using Moves = std::function<void(int from, int to, std::uint64_t bytes)>;
  using Works = std::function<void(int rank, const Work& work)>;
  void for_each_activity(const Bucket& bucket, const std::vector<int>& ranks, const Moves& moves,
                         const Works& works) const;
  // Calls `moves` once for each pair of which one sends the other anything of these buckets, with
  // all that it sends in an iteration of a round: there may be 161 buckets and a million pairs.
  using PairMoves = std::function<void(int from, int to, double bytes)>;
  void for_each_pair(const std::vector<Bucket>& buckets, const std::vector<int>& ranks,
                     const PairMoves& moves) const;
  // Does so as if the bucket were averaged by the exchange, whatever the schedule.
  void for_each_activity_of_average(const Bucket& bucket, const std::vector<int>& ranks,
                                    const Moves& moves, const Works& works) const;

 private:
  Plan plan_among(const Topology& topology, const Payload& payload, int rank,
                  bool every_step) const;
};

Traffic traffic_of(const Scenario& scenario, Cluster cluster, Compression compression);

// Returns the traffic of this cluster if it averages with this exchange and without compression. It
// keeps the settings if it is the same exchange.
Traffic dense_traffic(const Traffic& traffic, const Exchange& exchange);

// Returns the traffic of workers that average every gradient in their groups, dense, with this
// exchange. Throws std::invalid_argument if the exchange does not support a group, or if a worker
// has no site where groups are sites.
Traffic traffic_within(const Traffic& traffic, Among group, const Exchange& exchange);

// Returns the traffic of this half of an all-reduce in groups, or of an all-reduce; those of one
// place in all nodes have the shares of it that their nodes hold. Throws std::invalid_argument
// where nodes need one size and have not.
Traffic traffic_of_shards(const Traffic& traffic, Among group, CollectiveKind collective);

// 0 .. count - 1.
std::vector<int> first_ranks(int count);

}  // namespace syncline

// The costs of compression in one scenario: seconds come from the cost tables of its devices,
// message bytes from the compressor. A cost that no table has is an error that names the command
// that would measure it, never a zero.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/cost_table.h"
#include "sim/plan.h"
#include "sim/scenario.h"
#include "sim/traffic/cluster.h"

namespace syncline {

// Work whose seconds a run will look up.
struct CostLookup {
  int rank = 0;
  Work work;
  int iteration = -1;
};

class Compression {
 public:
  Compression() = default;  // nothing compresses
  // Reads the tables, unless compression is free: the table of the scenario's `device`, else that
  // of each worker's host. `start_bytes`, with network prices: a message of b bytes costs as much
  // as moving `start_bytes` + b bytes.
  Compression(const Scenario& scenario, const Cluster& cluster,
              std::optional<double> start_bytes = {});

  // The same for a learned model with `part` times the timed model's parameters. One of its values
  // stands for 1 / part sent ones, which compressors that weigh the cost of sending take into
  // account.
  Compression of_part(double part) const;

  // The same with network prices, where a start costs as much as moving these bytes.
  Compression with_start(double start_bytes) const;

  // True if a table is a range (CostTable::is_range).
  bool is_range() const;
  // The same with the values at one end of tables that are ranges: p10, or p90.
  Compression at_end(double CostRow::*end) const;

  bool on() const { return compressor_ != nullptr; }
  const Compressor& compressor() const { return *compressor_; }

  // Size of a message for this number of gradient values, in an iteration (the density may warm
  // up). -1: after warm-up.
  WireSize message(std::uint64_t elements, int iteration) const;
  // The same for all tensors of a bucket, where the compressor asks for their shapes.
  WireSize message(const std::vector<TensorShape>& shapes, std::uint64_t elements,
                   int iteration) const;
  void reseed(std::uint64_t seed) { seed_ = seed; }  // of drawn_bytes()
  // Bytes of one worker's message if the compressor does not fix the size: drawn at random from the
  // range that the compressor's own rule accepts, with `size.bytes` as the mean.
  std::uint64_t drawn_bytes(const WireSize& size, int worker, int iteration, int bucket) const;
  // Seconds of this work on a rank's device. Servers use the table of worker 0, aggregators the
  // table of their node's first worker. Tables hold times for fp32 gradients; fp16 gradients take
  // the same seconds.
  double seconds(int rank, const Work& work, int iteration) const;
  // Empty if the tables have all of these costs; else one line that names all missing ones and, for
  // each table, the command that would measure them.
  std::string unpriced(const std::vector<CostLookup>& lookups) const;
  // One rank for each table: enough to look up every cost.
  std::vector<int> one_worker_of_each_table() const;
  // All iterations of a warm-up stage have messages of the same size.
  int warm_up_stage(int iteration) const;
  bool warms_up() const { return warm_up_stages_.size() > 1; }
  // True if the compressor keeps a momentum of gradients, as dgc does.
  bool has_momentum() const;
  // The compressor's settings in an iteration.
  const Settings& settings(int iteration) const {
    return warm_up_stages_[static_cast<std::size_t>(warm_up_stage(iteration))];
  }
  std::vector<int> first_iterations() const;  // of each stage

  // Where the prices that were asked for come from.
  std::string provenance() const;

 private:
  // Price of messages that are decoded together. Without a price of a further message, each takes
  // as long as the first.
  struct Price {
    double first_s = 0;
    std::optional<double> further_s = {};
  };

  void read_tables(const Scenario& scenario, const Cluster& cluster);
  Price priced(const CostTable& table, const Work& work, int iteration) const;
  CostQuestion question(const CostTable& table, const Work& work, int iteration) const;

  const Compressor* compressor_ = nullptr;
  const Compressor* read_as_ = nullptr;
  std::vector<Settings> warm_up_stages_;  // the last is after warm-up
  // No row of a table includes momentum. With learning, the encoder computes the momentum, and is
  // priced as if it did not.
  bool unpriced_momentum_ = false;
  bool asks_for_shapes_ = false;
  bool may_fuse_more_ = false;  // the scenario's buckets may be larger: bucket-bytes = all
  int iterations_per_stage_ = 1;
  Precision precision_ = Precision::fp32;
  std::uint64_t seed_ = 1;
  std::vector<CostTable> tables_;
  double CostRow::*figure_ = &CostRow::seconds;  // the column of tables that are ranges
  std::vector<std::size_t> table_of_;            // by rank, aggregators included
  std::string provenance_;
  // Caches: a simulation looks up the same few costs many times.
  mutable std::map<std::pair<std::uint64_t, int>, WireSize> known_sizes_;
  mutable std::map<std::tuple<std::size_t, Work::Kind, std::uint64_t, int>, Price> known_seconds_;
  mutable bool priced_alone_ = false;
};

}  // namespace syncline

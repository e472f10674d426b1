// Compression costs this in one scenario: seconds from the cost tables of its devices, message
// bytes from the compressor itself. A cost that no table has is an error that names the command
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
struct Demand {
  int rank = 0;
  Work work;
  int iteration = -1;
};

class Compression {
 public:
  Compression() = default;  // nothing compresses
  // Reads the tables, unless compression is free: the scenario's `device`, else that of each
  // worker's host. `start_bytes`, with network prices: a message of b bytes costs as much as moving
  // `start_bytes` + b bytes.
  Compression(const Scenario& scenario, const Cluster& cluster,
              std::optional<double> start_bytes = {});

  // Returns it for a vector of `part` times as many values, each of which stands for 1 / `part` of
  // those that travel: whoever weighs what sending costs weighs the cost of these.
  Compression of_part(double part) const;

  // Whether a table is a range (CostTable::is_range).
  bool is_range() const;
  // Returns it with what tables that are ranges have at an end: p10, or p90.
  Compression at_end(double CostRow::*end) const;

  bool on() const { return compressor_ != nullptr; }
  const Compressor& compressor() const { return *compressor_; }

  // Bytes of a message for so many gradient values, in an iteration (its density may warm up). -1:
  // after warm-up.
  WireSize message(std::uint64_t elements, int iteration) const;
  // Bytes of one worker's message if the compressor does not fix the size: drawn from the range
  // that its own rule accepts, with `size.bytes` as the mean.
  void reseed(std::uint64_t seed) { seed_ = seed; }
  std::uint64_t drawn_bytes(const WireSize& size, int worker, int iteration, int bucket) const;
  // Seconds of this work on a rank's device. Servers use the table of worker 0, aggregators that of
  // their node's first worker. Tables are of fp32 gradients; fp16 gradients take the same seconds.
  double seconds(int rank, const Work& work, int iteration) const;
  // Empty if the tables have all of these; else one line that names everything they lack, and for
  // each table the command that would measure it.
  std::string unpriced(const std::vector<Demand>& demands) const;
  // One rank per table, enough to look up every cost.
  std::vector<int> one_worker_of_each_table() const;
  // Iterations of one warm-up stage have messages of the same size.
  int warm_up_stage(int iteration) const;
  bool warms_up() const { return warm_up_stages_.size() > 1; }
  // Whether the compressor keeps momentum of gradients, as dgc does.
  bool has_momentum() const;
  // The compressor's, in an iteration.
  const Settings& settings(int iteration) const {
    return warm_up_stages_[static_cast<std::size_t>(warm_up_stage(iteration))];
  }
  std::vector<int> first_iterations() const;  // of the stages

  // Of the prices that were asked for.
  std::string provenance() const;

 private:
  // Of messages that are decoded together. Where a table has no price of a further one, each takes
  // as long as a first one.
  struct Price {
    double first_s = 0;
    std::optional<double> further_s = {};
  };

  void read_tables(const Scenario& scenario, const Cluster& cluster);
  Price priced(const CostTable& table, const Work& work, int iteration) const;
  CostQuestion question(const CostTable& table, const Work& work, int iteration) const;

  const Compressor* compressor_ = nullptr;
  const Compressor* read_as_ = nullptr;
  std::vector<Settings> warm_up_stages_;  // the last one after warm-up
  // No row of a table has it: with learning, momentum happens in the encoder, which is priced as
  // without.
  bool unpriced_momentum_ = false;
  int iterations_per_stage_ = 1;
  Precision precision_ = Precision::fp32;
  std::uint64_t seed_ = 1;
  std::vector<CostTable> tables_;
  double CostRow::*figure_ = &CostRow::seconds;  // of tables that are ranges
  std::vector<std::size_t> table_of_;            // of each rank, aggregators included
  std::string provenance_;
  // Cached, because a simulation looks up the same few costs again and again.
  mutable std::map<std::pair<std::uint64_t, int>, WireSize> known_sizes_;
  mutable std::map<std::tuple<std::size_t, Work::Kind, std::uint64_t, int>, Price> known_seconds_;
  mutable bool priced_alone_ = false;
};

}  // namespace syncline

// What compressing costs in one scenario, and what it makes: seconds from the cost tables of its
// devices, bytes from the compressor itself. A figure that no table has is an error that names the
// command that would measure it, never a zero.
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
#include "sim/setup/cluster.h"

namespace syncline {

// Work that a run asks the price of.
struct Demand {
  int rank = 0;
  Work work;
  int iteration = -1;
};

class Compression {
 public:
  Compression() = default;  // nothing compresses
  // Reads the tables: the scenario's `device`, else that of each worker's host. Where the scenario
  // wants network prices, a message of b bytes costs what `start_bytes` + b bytes take to move.
  Compression(const Scenario& scenario, const Cluster& cluster,
              std::optional<double> start_bytes = {});

  bool on() const { return compressor_ != nullptr; }
  const Compressor& compressor() const { return *compressor_; }

  // Of a message that stands for so many gradient values. `iteration` matters where the density
  // follows it; -1 is any iteration after that.
  WireSize message(std::uint64_t elements, int iteration) const;
  // Of one worker's message where the compressor only aims at a size: drawn from the band that its
  // own rule accepts, with the size it aims at as the mean.
  std::uint64_t drawn_bytes(const WireSize& size, int worker, int iteration, int bucket) const;
  // Seconds of this work on a rank's device. Servers and aggregators work at the pace of worker 0's
  // device and of their node's first worker. A table is of fp32 gradients; fp16 ones are charged
  // the same.
  double seconds(int rank, const Work& work, int iteration) const;
  // Empty where every one of these has a price; else one line that names all that the tables lack,
  // and the command for each table that would measure it.
  std::string unpriced(const std::vector<Demand>& demands) const;
  // The first worker of each table: what it works on has a price there if anything has.
  std::vector<int> one_worker_of_each_table() const;
  // Iterations of one stage have messages of the same size.
  int stage(int iteration) const;
  std::vector<int> first_iterations() const;  // of the stages

  const std::string& provenance() const { return provenance_; }

 private:
  void read_tables(const Scenario& scenario, const Cluster& cluster);
  CostQuestion question(const CostTable& table, const Work& work, int iteration) const;

  const Compressor* compressor_ = nullptr;
  const Compressor* read_as_ = nullptr;
  std::vector<Settings> stages_;  // the last one for good
  int iterations_per_stage_ = 1;
  Precision precision_ = Precision::fp32;
  std::uint64_t seed_ = 1;
  std::vector<CostTable> tables_;
  std::vector<std::size_t> table_of_;  // of each rank, aggregators included
  std::string provenance_;
  // Prices that have been looked up: a simulation asks for the same few over and over.
  mutable std::map<std::pair<std::uint64_t, int>, WireSize> known_sizes_;
  mutable std::map<std::tuple<std::size_t, Work::Kind, std::uint64_t, int>, double> known_seconds_;
};

}  // namespace syncline

// What compressing costs in one scenario, and what it makes: seconds from the cost tables of its
// devices, bytes from the compressor itself. A figure that no table has is an error that names the
// command that would measure it, never a zero.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kernels/cost_table.h"
#include "sim/cluster.h"
#include "sim/scenario.h"

namespace syncline {

// The device that a table is about: "v100" for v100-published.csv, wherever it lies.
std::string device_of(const std::string& table);

// Making ("compress") or adding ("decompress") a message of so many elements, on a rank's device.
struct Work {
  int rank = 0;
  std::string_view verb;
  std::uint64_t elements = 0;
  int iteration = -1;
};

class Compression {
 public:
  Compression() = default;  // nothing compresses
  // Reads the tables: the scenario's `device`, else that of each worker's host.
  Compression(const Scenario& scenario, const Cluster& cluster);

  bool on() const { return compressor_ != nullptr; }
  const Compressor& compressor() const { return *compressor_; }

  // CAT's rule weighs what is sent against what sending costs. When the scenario gives no cost
  // model, it is the simulated network's: a message of b bytes costs startup_s + b *
  // seconds_per_byte.
  bool wants_network_prices() const { return network_prices_; }
  void price_network(double startup_s, double seconds_per_byte);

  // Of a message that stands for so many gradient values. `iteration` matters where the density
  // follows it; -1 is any iteration after that.
  WireSize message(std::uint64_t elements, int iteration) const;
  // Of one worker's message where the compressor only aims at a size: drawn from the band that its
  // own rule accepts, with the size it aims at as the mean.
  std::uint64_t drawn_bytes(const WireSize& size, int worker, int iteration, int bucket) const;
  // Seconds of making ("compress") or adding ("decompress") that many of them on a rank's device.
  // Servers and aggregators work at the pace of worker 0's device and of their node's first worker.
  // A table is of fp32 gradients; fp16 ones are charged the same.
  double seconds(int rank, std::string_view work, std::uint64_t elements, int messages,
                 int iteration) const;
  // Empty where every one of these has a price; else one line that names all that the tables lack,
  // and the command for each table that would measure it.
  std::string unpriced(const std::vector<Work>& works) const;
  // The first worker of each table: what it works on has a price there if anything has.
  std::vector<int> one_worker_of_each_table() const;
  // Iterations of one stage have messages of the same size.
  int stage(int iteration) const;
  std::vector<int> first_iterations() const;  // of the stages

  const std::string& provenance() const { return provenance_; }

 private:
  CostQuestion question(const CostTable& table, bool encode, std::uint64_t elements,
                        int iteration) const;

  const Compressor* compressor_ = nullptr;
  std::vector<Settings> stages_;  // the last one for good
  std::map<std::string, std::string> words_;
  int iterations_per_stage_ = 1;
  Precision precision_ = Precision::fp32;
  std::uint64_t seed_ = 1;
  bool network_prices_ = false;
  std::vector<CostTable> tables_;
  std::vector<std::size_t> table_of_;  // of each rank, aggregators included
  std::string provenance_;
  // Prices that have been looked up: a simulation asks for the same few over and over.
  mutable std::map<std::pair<std::uint64_t, int>, WireSize> known_sizes_;
  mutable std::map<std::tuple<std::size_t, bool, std::uint64_t, int>, double> known_seconds_;
};

}  // namespace syncline

// Compressors as in a simulation, and gradients of several workers for them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/philox.h"
#include "sim/learning/coder.h"
#include "sim/options/resolve.h"
#include "sim/plan.h"

namespace syncline {

using WrittenOptions = std::map<std::string, std::string>;  // as a user writes them

inline Scenario scenario_of(const WrittenOptions& words, std::vector<Conflict>& conflicts) {
  GivenOptions given{
      {"platform", {"two-hosts", ""}}, {"model", {"resnet50", ""}}, {"device", {"cpu", ""}}};
  for (const auto& [key, value] : words)
    given[key] = {value, "--" + key};
  return resolve(given, conflicts);
}

// Must not move while a Coder uses it.
struct Coded {
  Scenario scenario;
  Topology topology;
  Compression compression;

  Coded(const WrittenOptions& words, const std::vector<int>& workers_in_node) {
    std::vector<Conflict> conflicts;
    scenario = scenario_of(words, conflicts);
    if (!conflicts.empty())
      throw std::invalid_argument(conflicts.front().why);
    topology = make_topology(workers_in_node, 1);
    Cluster cluster;
    cluster.topology = topology;
    cluster.workers.resize(topology.node_of.size());
    compression = Compression(scenario, cluster);
  }

  Coder coder(std::uint64_t seed = 1) const { return {compression, scenario.precision, seed}; }
  Values combined(const Contributions& contributions) const {
    return combine(*scenario.exchange, topology, scenario.exchange_settings, contributions);
  }
};

// Gradients of many workers and iterations: each call of `of` returns another piece.
class Gradients {
 public:
  enum class Kind { real, whole };  // whole: sums are exact

  explicit Gradients(Kind kind) {
    constexpr std::size_t size = 40009;
    for (std::uint32_t i = 0; values_.size() < size; ++i)
      for (const std::uint32_t word : philox({i, 0, 0, 7}, 3, 4)) {
        const int bits = static_cast<int>(word >> 24) - 128;
        const int spread = 1 << (word & 3u);  // a few large values, as in gradients
        values_.push_back(kind == Kind::whole ? static_cast<float>(bits / spread)
                                              : static_cast<float>(word % 1000003u - 500001.0) *
                                                    1e-5f / static_cast<float>(spread));
      }
  }

  std::span<const float> of(int worker, int bucket, int iteration, std::size_t elements) const {
    const auto place = static_cast<std::size_t>(worker * 5003 + bucket * 1009 + iteration * 2003);
    return {values_.data() + place % (values_.size() - elements), elements};
  }
  std::vector<std::span<const float>> of_all(int workers, int bucket, int iteration,
                                             std::size_t elements) const {
    std::vector<std::span<const float>> all;
    for (int worker = 0; worker < workers; ++worker)
      all.push_back(of(worker, bucket, iteration, elements));
    return all;
  }

 private:
  std::vector<float> values_;
};

// Adds everything that the senders of one bucket have not sent.
inline void add_residuals(const Coder& coder, int bucket, std::span<float> sum) {
  if (!coder.keeps_residuals(-1))
    return;
  for (const auto& [sender, state] : coder.states())
    if (sender.bucket == bucket) {
      const Values left = residual(state);
      for (std::size_t i = 0; i < left.size(); ++i)
        sum[sender.first + i] += left[i];
    }
}

inline std::vector<std::uint32_t> bits_of(std::span<const float> values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values)
    bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

// Gradients added in the order of workers.
inline Values added(const std::vector<std::span<const float>>& gradients) {
  Values sum(gradients.front().size());
  for (const std::span<const float> gradient : gradients)
    for (std::size_t i = 0; i < sum.size(); ++i)
      sum[i] += gradient[i];
  return sum;
}

}  // namespace syncline

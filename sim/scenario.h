// Everything that defines one simulation. Its fields are the options of the command line and of the
// configuration files, under the same words; sim/options.cpp says what each allows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "kernels/registry.h"

namespace syncline {

struct Scenario {
  std::string platform;                 // path of a SimGrid XML file
  std::optional<int> workers;           // none: every worker host of the platform
  std::optional<int> workers_per_node;  // only where hosts carry no `node` property
  int servers = 0;                      // 0: one shard per node, on the nodes

  std::string model;  // path of a model CSV
  int batch = 32;     // samples per worker and iteration
  std::string precision = "fp32";
  std::optional<double> throughput;  // samples/s of one worker alone
  std::string device;                // empty: each host's own `device` property
  std::string cost_table;            // path of that device's; only where something compresses
  std::optional<double> efficiency;  // fraction of the host's peak speed

  std::string schedule = "bsp";
  Settings schedule_settings;
  std::string exchange;
  Settings exchange_settings;
  bool overlap = true;
  std::string bucket_bytes = "26214400";  // bytes, `all` or `merged`
  std::string compressor = "none";
  Settings compressor_settings;
  bool network_prices = false;    // CAT's cost model is the simulated network's
  std::uint64_t dense_below = 0;  // tensors of fewer values are sent as they are

  std::string network = "exact";
  std::optional<double> bandwidth_factor;  // instead of the network model's own
  std::optional<double> latency_factor;
  double step_overhead_s = 0;
  bool every_step = false;  // fidelity = step
  double jitter = 0;        // coefficient of variation of compute time

  int iterations = 10;  // measured ones, after `warmup`
  int warmup = 1;
  std::uint64_t seed = 1;

  // Every option with its value as written or by default: what a result records.
  std::map<std::string, std::string> words;

  int gradient_value_bytes() const { return precision == "fp16" ? 2 : 4; }
};

}  // namespace syncline

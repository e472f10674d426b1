// What the reference knows of a scenario: the platform's routes, seconds of computation, and bytes.
// Other tests check these inputs; the reference itself computes how long an iteration takes.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "sim/setup/setup.h"
#include "tests/reference/network.h"

namespace syncline::reference {

struct Message {
  double bytes = 0;          // one worker's message
  double dense_bytes = 0;    // of the gradient
  std::uint64_t values = 0;  // compressed values; 0: not compressed
};

struct Facts {
  std::string exchange;
  std::vector<std::vector<int>> nodes;  // workers of each node
  std::vector<int> node_of;             // of each worker
  // For each channel, the workers of each node in the channel's order. Empty: a single channel, in
  // the order of ranks.
  std::vector<std::vector<std::vector<int>>> channels;
  int servers = 0;                     // ranks from workers() on
  std::vector<int> memory_of;          // by rank: ranks on one host share memory
  std::vector<std::vector<Way>> ways;  // from rank to rank
  std::vector<double> link_Bps;

  std::vector<double> forward_s;                    // of each worker
  std::vector<std::vector<double>> unit_forward_s;  // the same, by bucket
  std::vector<std::vector<double>> backward_s;      // of each worker, by bucket
  std::vector<double> step_s;                       // of each worker
  std::vector<Message> buckets;
  // Of a worker: seconds of making a message of `values` values, of decoding one, and of decoding
  // each further one together with it.
  std::function<double(int worker, std::uint64_t values)> encode_s;
  std::function<double(int worker, std::uint64_t values)> decode_s;
  std::function<double(int worker, std::uint64_t values)> decode_further_s;

  bool overlap = true;
  double step_overhead_s = 0;
  double memory_Bps = 0;
  double update_bytes = 3;  // memory traffic per byte that a server applies
  double partition_bytes = 0;
  double chunk_bytes = 0;
  bool aggregate = true;
  bool gathers_by_doubling = false;
  bool balances = false;
  int local_steps = 1;             // iterations per round; the last one communicates
  bool shards = false;             // `fsdp`; the following fields are its settings
  bool shards_parameters = false;  // zero = 3
  bool scatters_once = false;      // once per iteration
  bool shards_in_nodes = false;    // then averages each shard between nodes
  int prefetch = 0;
  bool gathers_late = false;    // in backward: after a unit has computed
  bool scatters_first = false;  // in backward: after the unit's gradients are sent
  int micro_steps = 1;
  bool answers_each = false;        // servers: `asp` and `ssp`
  bool starts_together = false;     // else spread over an iteration
  std::function<double()> nudge_s;  // delay of the next push; empty: none
  double staleness = std::numeric_limits<double>::infinity();
  bool has_cache = false;

  int workers() const { return static_cast<int>(node_of.size()); }
  int ranks() const { return workers() + servers; }
  int channel_count() const { return channels.empty() ? 1 : static_cast<int>(channels.size()); }
  const std::vector<std::vector<int>>& nodes_in(int channel) const {
    return channels.empty() ? nodes : channels[static_cast<std::size_t>(channel)];
  }
  const Way& way(int from, int to) const {
    return ways[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  }
};

// The setup must outlive the result, which is only valid in the process that made it.
Facts facts_of(const Setup& setup);

}  // namespace syncline::reference

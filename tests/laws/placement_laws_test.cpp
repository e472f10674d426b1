// Law 36 (tests/laws/README.md): the hosts that have workers decide how many bytes leave a node.
#include <algorithm>
#include <gtest/gtest.h>
#include <set>

#include "tests/laws/simulated.h"

namespace syncline {
namespace {

const std::vector<std::uint64_t> tensors{400'000, 900'000};
constexpr double model_bytes = 4.0 * (400'000 + 900'000);

// The number of workers on each node that has any, from the trace's ranks.
std::vector<int> sizes_of(const Trace& trace) {
  std::vector<int> sizes;
  for (const int node : trace.node_of) {
    if (index(node) >= sizes.size())
      sizes.resize(index(node) + 1);
    ++sizes[index(node)];
  }
  return sizes;
}

// Bytes sent off their node by all workers, per iteration.
double off_node(const Simulated& run) {
  return run.figures.bytes_sent_off_node * run.trace.workers;
}

Options placed(const std::string& placement, int workers, const Options& more = {}) {
  Options options{{"platform", star_platform({.nodes = 4, .workers_per_node = 3})},
                  {"model", model_of(tensors)},
                  {"schedule", "bsp"},
                  {"workers", std::to_string(workers)},
                  {"placement", placement},
                  {"fidelity", "step"},
                  {"iterations", "3"}};
  for (const auto& [key, value] : more)
    options[key] = value;
  return options;
}

// A ring leaves each of N nodes once in each of 2 (n - 1) steps of b / n.
double ring_off_node(const std::vector<int>& sizes, int workers) {
  return sizes.size() == 1
             ? 0
             : static_cast<double>(sizes.size()) * 2 * (workers - 1) / workers * model_bytes;
}

TEST(Law36, BytesThatLeaveNodesAreThoseOfThePlacement) {
  for (int workers = 1; workers <= 12; ++workers)
    for (const char* placement : {"packed", "spread", "random"}) {
      const Simulated run = simulated(placed(placement, workers, {{"seed", "7"}}));
      const std::vector<int> sizes = sizes_of(run.trace);
      const std::string name = std::string(placement) + " " + std::to_string(workers);
      if (std::string(placement) == "packed") {
        std::vector<int> full(index(workers / 3), 3);
        if (workers % 3 > 0)
          full.push_back(workers % 3);
        EXPECT_EQ(sizes, full) << name;
      } else if (std::string(placement) == "spread") {
        std::vector<int> even;
        for (int node = 0; node < std::min(workers, 4); ++node)
          even.push_back(workers / 4 + (node < workers % 4 ? 1 : 0));
        EXPECT_EQ(sizes, even) << name;
      }
      EXPECT_NEAR(off_node(run), ring_off_node(sizes, workers), 64) << name;
      EXPECT_FALSE(run.below_its_bound()) << name;
    }
}

// 1 / N of a worker's push goes to the server on its own node.
TEST(Law36, ServersStandOnTheNodesThatHaveWorkers) {
  for (const auto& [placement, nodes] :
       std::vector<std::pair<std::string, int>>{{"packed", 2}, {"spread", 4}}) {
    const Simulated run = simulated(placed(placement, 5, {{"schedule", "asp"}}));
    EXPECT_EQ(run.trace.servers, nodes);
    std::vector<double> sent(5);  // in the whole run
    for (const Row& row : run.trace.rows)
      if (row.rank < 5)
        sent[index(row.rank)] += static_cast<double>(row.bytes_sent);
    double off = 0;
    for (int rank = 0; rank < 5; ++rank)
      off += sent[index(rank)] * run.trace.off_node[index(rank)];
    const auto pushes = static_cast<double>(run.rows("forward").size());
    EXPECT_NEAR(off / (pushes * model_bytes * (nodes - 1) / nodes), 1, 1e-6) << placement;
  }
}

// Three workers on one node of four GPUs, or on three nodes: inside a node nothing goes through its
// card.
TEST(Law36, SpreadWorkersWaitForCardsThatPackedOnesDoNotUse) {
  const double packed_s = simulated(placed("packed", 3)).iteration_s();
  const double spread_s = simulated(placed("spread", 3)).iteration_s();
  const double bytes_s = 2.0 * 2 / 3 * model_bytes;
  EXPECT_NEAR(spread_s - packed_s, bytes_s / 1e9 - bytes_s / 1e10, 2e-4);
}

TEST(Law36, ASeedIsAPlacement) {
  std::set<std::vector<int>> seen;
  for (const char* seed : {"1", "2", "3", "4", "5", "6"}) {
    const Options options = placed("random", 5, {{"seed", seed}});
    const Simulated run = simulated(options);
    EXPECT_EQ(trace_text(run.trace), trace_text(simulated(options).trace)) << seed;
    EXPECT_NEAR(off_node(run), ring_off_node(sizes_of(run.trace), 5), 64) << seed;
    seen.insert(sizes_of(run.trace));
  }
  EXPECT_GT(seen.size(), 2U);
}

// If all hosts are used there is no choice.
TEST(Law36, AFullPlatformHasOnePlacement) {
  const std::string packed = trace_text(simulated(placed("packed", 12)).trace);
  EXPECT_EQ(trace_text(simulated(placed("spread", 12)).trace), packed);
  EXPECT_EQ(trace_text(simulated(placed("random", 12)).trace), packed);
}

}  // namespace
}  // namespace syncline

// Laws 2, 4 and 11 (tests/laws/README.md) for averaging through servers: the seconds of `ps`, how
// its stages overlap, and that the closed form agrees.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/laws/simulated.h"

namespace syncline {
namespace {

constexpr double nic_Bps = 1.25e9;
constexpr double bytes = 2e8;  // of the gradient

std::string one_tensor() {
  return model_of({50'000'000});
}

std::string fifty_tensors() {
  return model_of(std::vector<std::uint64_t>(50, 1'000'000));
}

// Servers on their own machines or, with `servers` = 0, on the nodes.
struct Machines {
  int nodes, workers, servers;  // workers on each node
};

Options through_servers(const Machines& machines) {
  return {{"platform", star_platform({.nodes = machines.nodes,
                                      .workers_per_node = machines.workers,
                                      .nic_Bps = nic_Bps,
                                      .bus_Bps = 1.2e10,
                                      .bus_latency_s = 1e-6,
                                      .servers = machines.servers})},
          {"model", one_tensor()},
          {"exchange", "ps"},
          {"servers", std::to_string(machines.servers)},
          {"overlap", "off"},
          {"iterations", "1"},
          {"warmup", "0"}};
}

// Seconds of one iteration without its computation.
double iteration_s(const Options& options) {
  return simulated(options).trace.end_s - 0.1;
}

// Calls check(options, about) in both fidelities, with one bucket and with nine.
template <class Check>
void for_each_variant(Options options, Check check) {
  for (const char* fidelity : {"flow", "step"})
    for (const auto& [model, buckets] :
         {std::pair(one_tensor(), "one bucket"), {fifty_tensors(), "nine buckets"}}) {
      options["fidelity"] = fidelity;
      options["model"] = model;
      check(options, std::string(fidelity) + ", " + buckets);
    }
}

std::string described(const Machines& machines) {
  return std::to_string(machines.nodes) + " nodes of " + std::to_string(machines.workers) + ", " +
         std::to_string(machines.servers) + " servers, ";
}

// n nodes push to k machines, which answer while the next partition arrives: M/B, times n/k if
// there are fewer servers than nodes.
TEST(Law2, AveragingOnMachinesOfTheirOwnTakesTheBusiestCardsTime) {
  for (const Machines& one :
       std::vector<Machines>{{8, 1, 8}, {8, 1, 4}, {8, 1, 2}, {4, 1, 8}, {8, 4, 8}, {5, 2, 3}})
    for_each_variant(through_servers(one), [&](const Options& options, const std::string& variant) {
      const double bound_s = std::max(1.0, 1.0 * one.nodes / one.servers) * bytes / nic_Bps;
      const double seconds = iteration_s(options);
      EXPECT_GE(seconds, bound_s) << described(one) << variant;
      EXPECT_LE(seconds, 1.05 * bound_s) << described(one) << variant;
    });
}

// A card carries its worker's pushes and its server's answers, each without the node's own shard.
TEST(Law2, AveragingOnTheNodesTakesTwoTransfersOfAllButOneShard) {
  for (const Machines& one : std::vector<Machines>{{2, 1, 0}, {8, 1, 0}, {8, 4, 0}})
    for_each_variant(through_servers(one), [&](const Options& options, const std::string& variant) {
      const double bound_s = 2.0 * (one.nodes - 1) / one.nodes * bytes / nic_Bps;
      const double seconds = iteration_s(options);
      EXPECT_GE(seconds, bound_s) << described(one) << variant;
      EXPECT_LE(seconds, 1.05 * bound_s) << described(one) << variant;
    });
}

// K partitions are pushed, and the last one is pulled after that.
TEST(Law2, PartitionsAreOfTheBucketHoweverManyTheServers) {
  for (const int servers : {2, 4, 8}) {
    Options options = through_servers({2, 1, servers});
    options["host-memory-bandwidth"] = "1e15";
    for (const int partitions : {1, 2, 5, 20}) {
      options["partition-bytes"] = std::to_string(200'000'000 / partitions);
      for (const char* fidelity : {"flow", "step"}) {
        options["fidelity"] = fidelity;
        EXPECT_NEAR(iteration_s(options), (partitions + 1) * bytes / partitions / nic_Bps, 1e-3)
            << servers << " servers, " << partitions << " partitions, " << fidelity;
      }
    }
  }
}

TEST(Law4, AtMostSoManyBucketsAreInFlight) {
  Options options = through_servers({4, 2, 4});
  options["model"] = fifty_tensors();
  double before_s = 0;
  for (const auto& [in_flight, most] :
       std::vector<std::pair<std::string, int>>{{"0", 9}, {"8", 8}, {"2", 2}, {"1", 1}}) {
    options["in-flight"] = in_flight;
    const Simulated run = simulated(options);
    EXPECT_GE(run.trace.end_s, before_s * (1 - 1e-9)) << in_flight;
    before_s = run.trace.end_s;
    std::map<int, std::pair<double, double>> buckets;  // of worker 0: first start and last end
    for (const Row& row : run.trace.rows)
      if (row.rank == 0 && row.stream == Stream::communication && row.verb != Verb::wait) {
        const auto [bucket, added] = buckets.emplace(row.bucket, std::pair(row.start_s, row.end_s));
        bucket->second.first = std::min(bucket->second.first, row.start_s);
        bucket->second.second = std::max(bucket->second.second, row.end_s);
      }
    ASSERT_EQ(buckets.size(), 9u);
    int together = 0;
    for (const auto& [bucket, from] : buckets) {
      int under_way = 0;
      for (const auto& [other, to] : buckets)
        under_way += to.first <= from.first && to.second > from.first + 1e-9 ? 1 : 0;
      together = std::max(together, under_way);
    }
    EXPECT_LE(together, most) << in_flight;
    EXPECT_GE(together, std::min(most, 3)) << in_flight;
  }
}

// Each stage has its own stream, so that both directions of a card are busy at the same time.
TEST(Law11, StagesOfAnAverageThroughServersOverlap) {
  for (const char* fidelity : {"flow", "step"}) {
    Options options = through_servers({4, 2, 4});
    options["fidelity"] = fidelity;
    const Simulated run = simulated(options);
    std::map<std::string, double> seconds;  // of worker 0
    for (const auto& [verb, stage] : std::map<std::string, int>{
             {"reduce-scatter", 0}, {"push", 1}, {"pull", 2}, {"all-gather", 3}})
      for (const Row& row : run.rows(verb)) {
        EXPECT_EQ(row.stage, stage) << verb;
        EXPECT_EQ(row.stream, Stream::communication) << verb;
        if (row.rank == 0)
          seconds[verb] += row.end_s - row.start_s;
      }
    EXPECT_NEAR(seconds["push"], bytes / nic_Bps, 5e-3) << fidelity;
    EXPECT_NEAR(seconds["pull"], bytes / nic_Bps, 5e-3) << fidelity;
    EXPECT_LT(run.trace.end_s - 0.1, seconds["push"] + 0.1 * seconds["pull"]) << fidelity;
  }
}

TEST(ClosedForm, OfAveragingThroughServersIsWhatIsSimulated) {
  for (const Machines& one : std::vector<Machines>{
           {8, 1, 8}, {8, 1, 2}, {4, 1, 8}, {8, 4, 8}, {8, 1, 0}, {4, 4, 0}, {1, 4, 0}})
    for (const char* in_flight : {"0", "1"})
      for_each_variant(through_servers(one), [&](Options options, const std::string& variant) {
        options["in-flight"] = in_flight;
        const std::string about = described(one) + "in-flight " + in_flight + ", " + variant;
        EXPECT_NEAR(predicted(options).exchange_s / iteration_s(options), 1, 0.02) << about;
        options["overlap"] = "on";
        EXPECT_NEAR(predicted(options).iteration_s / simulated(options).trace.end_s, 1, 0.02)
            << about;
      });
}

// Two servers add halves of 100 MB of four nodes' sums, whose values are read twice and written
// once: 0.6 s at 2 GB/s, in which workers wait. Once, only slow workers were named for that.
TEST(ServerAverages, NameAddingInMemoryWhereWorkersWaitForIt) {
  Options options = through_servers({.nodes = 4, .workers = 2, .servers = 2});
  options["host-memory-bandwidth"] = "2e9";
  const Figures slow = simulated(options).figures;
  const int adding = static_cast<int>(std::lround(100 * 0.6 / slow.iteration_mean_s));
  EXPECT_GE(adding, 50);
  EXPECT_NE(slow.bottleneck.find("; the busiest server adds gradients in its host's memory for " +
                                 std::to_string(adding) + " %"),
            std::string::npos)
      << slow.bottleneck << adding;
  EXPECT_EQ(slow.bottleneck.find("slowest"), std::string::npos) << slow.bottleneck;
  options["host-memory-bandwidth"] = "2e12";
  const Figures fast = simulated(options).figures;
  EXPECT_EQ(fast.bottleneck.find("adds gradients"), std::string::npos) << fast.bottleneck;
}

}  // namespace
}  // namespace syncline

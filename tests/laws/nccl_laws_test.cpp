// Law 42 (tests/laws/README.md): with `exchange = nccl` an all-reduce alone takes what NCCL's own
// model says, or what the links need if that is longer.
#include <gtest/gtest.h>
#include <set>

#include "sim/traffic/nccl_tuning.h"
#include "tests/laws/rails.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

// Of one bucket, alone.
double averaged_s(Options options, std::uint64_t values, const std::string& fidelity) {
  options["exchange"] = "nccl";
  options["model"] = model_of({values});
  options["overlap"] = "off";
  options["bucket-bytes"] = "all";
  options["iterations"] = "2";
  options["fidelity"] = fidelity;
  return simulated(options).iteration_s() - 0.1;
}

// Links so fast and so near that NCCL is what binds: nodes of one size and of three, cards for
// each GPU and for several. The cards of a node are the busiest links of a ring.
TEST(Law42, NcclBindsWhereLinksAreNear) {
  const std::vector<Rails> clusters{{.gpus = {8}},
                                    {.gpus = {8, 8}},
                                    {.gpus = {3, 3, 3}, .cards = 1},
                                    {.gpus = {4, 4, 4, 4, 4}, .cards = 4}};
  for (Rails rails : clusters) {
    rails.card_latency_s = rails.inside_latency_s = 1e-8;
    const NcclMachine machine{
        .ranks = rails.workers(),
        .nodes = static_cast<int>(rails.gpus.size()),
        .inside_Bps = rails.inside_Bps,
        .ring_Bps = rails.gpus.size() == 1 ? rails.inside_Bps : rails.cards * rails.card_Bps,
        .channels = rails.gpus.size() == 1 ? 1 : rails.cards};
    for (const std::uint64_t values : {500ul, 40'000ul, 1'000'000ul, 20'000'000ul}) {
      const std::uint64_t bytes = 4 * values;
      double least_s = 1e9;
      for (const NcclWay& way : nccl_ways(machine, bytes)) {
        double seconds = way.seconds(bytes);
        if (way.algorithm == NcclAlgorithm::nvls_tree)  // its transfers are those of chains of GPUs
          seconds = std::max(seconds, 2. * 7 / 8 * static_cast<double>(bytes) / rails.inside_Bps);
        least_s = std::min(least_s, seconds);
      }
      for (const char* fidelity : {"step", "flow", "analytic"})
        EXPECT_NEAR(averaged_s({{"platform", rails_platform(rails)}}, values, fidelity) / least_s,
                    1, fidelity == std::string("step") ? 0.02 : 0.03)
            << rails.workers() << " workers, " << values << ", " << fidelity;
    }
  }
}

// With the latencies of platforms in words, too: NCCL's chunks are short, so that a message of some
// megabytes need not wait for all of itself at each level of a tree, however many workers there
// are. In 33 nodes of 8 the messages are too many to follow one by one.
TEST(Law42, ATreesMessagesOfMiddleSizesTakeWhatNcclSays) {
  std::set<std::string> taken;
  for (const auto& [nodes, gpus] :
       {std::pair(2, 8), std::pair(5, 8), std::pair(16, 8), std::pair(33, 8), std::pair(300, 1)}) {
    const Rails rails{.gpus = std::vector<int>(static_cast<std::size_t>(nodes), gpus),
                      .cards = gpus,
                      .card_latency_s = 7e-6,
                      .inside_latency_s = 1.7e-6};
    const NcclMachine machine{.ranks = rails.workers(),
                              .nodes = nodes,
                              .inside_Bps = gpus == 1 ? 0 : rails.inside_Bps,
                              .ring_Bps = rails.cards * rails.card_Bps,
                              .channels = rails.cards};
    for (const std::uint64_t values : {1'000'000ul, 6'500'000ul}) {
      double least_s = 1e9;
      std::string name;
      for (const NcclWay& way : nccl_ways(machine, 4 * values))
        if (way.seconds(4 * values) < least_s) {
          least_s = way.seconds(4 * values);
          name = way.name();
        }
      taken.insert(name);
      for (const char* fidelity : {"flow", "analytic"})
        EXPECT_NEAR(averaged_s({{"platform", rails_platform(rails)}}, values, fidelity) / least_s,
                    1, 0.02)
            << nodes << " nodes, " << values << ", " << fidelity << ", " << name;
    }
  }
  EXPECT_TRUE(taken.contains("tree LL128") && taken.contains("NVLSTree Simple"));
}

// Nothing is faster than the platform's own latencies, of which a protocol saves some
// microseconds.
TEST(Law42, LongLatenciesStay) {
  const Star star{.nodes = 5, .workers_per_node = 2, .nic_latency_s = 5e-3, .prefix = "far"};
  for (const std::uint64_t values : {10ul, 100'000ul}) {
    const Options options{{"platform", star_platform(star)}};
    double least_s = 1e9;
    for (const char* exchange : {"ring", "tree"}) {
      Options fixed = options;
      fixed["exchange"] = exchange;
      fixed["model"] = model_of({values});
      fixed["overlap"] = "off";
      fixed["bucket-bytes"] = "all";
      fixed["iterations"] = "2";
      fixed["fidelity"] = "step";
      least_s = std::min(least_s, simulated(fixed).iteration_s() - 0.1);
    }
    const double seconds = averaged_s(options, values, "step");
    EXPECT_GT(seconds, 0.99 * least_s) << values;
  }
}

// The user's overhead comes on top: a tiny message goes up and down chains of 8 GPUs and a tree of
// 3 nodes in 2 (7 + 1) steps.
TEST(Law42, StepOverheadsComeOnTop) {
  const std::string platform = rails_platform({.gpus = {8, 8, 8}});
  const double without_s = averaged_s({{"platform", platform}}, 1, "step");
  const double with_s = averaged_s({{"platform", platform}, {"step-overhead", "5e-6"}}, 1, "step");
  EXPECT_NEAR(with_s - without_s, 16 * 5e-6, early_end_s);
}

// What is chosen for all workers is not for those of a node, whose averages are rings.
TEST(Law42, GroupsTakeRings) {
  Options options{{"platform", rails_platform({.gpus = {8, 8, 8}})},
                  {"model", model_of({2'000'000, 300})},
                  {"schedule", "local-sgd"},
                  {"replica", "node"},
                  {"local-steps", "4"},
                  {"iterations", "4"},
                  {"fidelity", "step"}};
  const auto in_nodes_s = [&](const std::string& exchange) {
    options["exchange"] = exchange;
    const Simulated run = simulated(options);
    double seconds = 0;
    for (const Row& row : run.trace.rows)
      if (row.rank == 0 && row.iteration == 0 && row.stream != Stream::compute)
        seconds += row.end_s - row.start_s;
    return seconds;
  };
  EXPECT_GT(in_nodes_s("ring"), 0);
  EXPECT_NEAR(in_nodes_s("nccl") / in_nodes_s("ring"), 1, 1e-6);
}

// Several buckets of different ways, several workers a node, unequal nodes and few cards: the
// fidelities agree.
TEST(Law42, FidelitiesAgreeOnSeveralBuckets) {
  for (const Rails& rails :
       {Rails{.gpus = {4, 6}, .cards = 2, .card_Bps = 1e9},
        Rails{.gpus = {8, 8, 8}, .card_latency_s = 7e-6, .inside_latency_s = 1.7e-6},
        Rails{.gpus = {1, 1, 1, 1}, .cards = 1, .card_latency_s = 7e-6}}) {
    Options options{{"platform", rails_platform(rails)},
                    {"model", model_of({300, 20'000'000, 4'000, 2'000'000, 500, 300'000})},
                    {"bucket-bytes", "0"},
                    {"iterations", "3"},
                    {"exchange", "nccl"}};
    std::map<std::string, double> seconds;
    for (const char* fidelity : {"step", "flow", "analytic"}) {
      options["fidelity"] = fidelity;
      const Simulated run = simulated(options);
      seconds[fidelity] = run.iteration_s();
      EXPECT_FALSE(run.below_its_bound()) << fidelity;
    }
    EXPECT_NEAR(seconds["flow"] / seconds["step"], 1, 0.02) << rails.gpus.size();
    EXPECT_NEAR(seconds["analytic"] / seconds["step"], 1, 0.02) << rails.gpus.size();
  }
}

TEST(Law42, WhatIsLearnedIsWhatARingLearns) {
  Options options = small_data();
  options["platform"] = rails_platform({.gpus = {4, 4}, .cards = 4});
  options["learn"] = "softmax";
  options["bucket-bytes"] = "0";
  options["iterations"] = "20";
  options["evaluate-every"] = "80";
  options["exchange"] = "nccl";
  const Simulated chosen = simulated(options);
  options["exchange"] = "ring";
  const Simulated ring = simulated(options);
  ASSERT_TRUE(chosen.trace.learned && ring.trace.learned);
  EXPECT_EQ(chosen.trace.learned->curve.back().loss, ring.trace.learned->curve.back().loss);
}

}  // namespace
}  // namespace syncline

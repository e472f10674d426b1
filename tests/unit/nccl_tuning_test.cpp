// NCCL's own model of an all-reduce (sim/traffic/nccl_tuning.h), by hand.
#include "sim/traffic/nccl_tuning.h"

#include <gtest/gtest.h>
#include <map>

namespace syncline {
namespace {

std::map<std::string, NcclWay> ways(const NcclMachine& machine, std::uint64_t bytes = 65536) {
  std::map<std::string, NcclWay> all;
  for (const NcclWay& way : nccl_ways(machine, bytes))
    all[way.name()] = way;
  return all;
}

TEST(NcclTuning, EightGpusOfANodeTakeFourteenStepsRoundTheRing) {
  const auto all = ways({.ranks = 8, .nodes = 1, .inside_Bps = 3e11});
  ASSERT_EQ(all.size(), 6);
  EXPECT_NEAR(all.at("ring LL").latency_s, (6.6 + 14 * 0.6) * 1e-6, 1e-12);
  EXPECT_NEAR(all.at("ring LL128").latency_s, (14 + 14 * 1.9) * 1e-6, 1e-12);
  EXPECT_NEAR(all.at("ring Simple").latency_s, (8.4 + 14 * 3.4) * 1e-6, 1e-12);
  EXPECT_NEAR(all.at("tree LL").latency_s, (6.8 + 14 * 0.6) * 1e-6, 1e-12);
  EXPECT_NEAR(all.at("tree LL128").latency_s, (14 + 14 * 1.25) * 1e-6, 1e-12);
  EXPECT_NEAR(all.at("tree Simple").latency_s, (8.4 + 14 * 4) * 1e-6, 1e-12);
  EXPECT_NEAR(all.at("ring LL128").saved_s, 14 * 1.5e-6, 1e-12);
  EXPECT_EQ(all.at("ring Simple").saved_s, 0);
}

// Two of the 30 steps of 2 x 8 GPUs leave a node; in the others the network must be posted to.
TEST(NcclTuning, RingsOverNodesPostToTheNetworkInEveryStep) {
  const auto all = ways({.ranks = 16, .nodes = 2, .inside_Bps = 4.5e11});
  EXPECT_NEAR(all.at("ring LL").latency_s, (6.6 + 28 * 1 + 2 * 2.7) * 1e-6, 1e-12);
  EXPECT_NEAR(all.at("ring Simple").latency_s, 1.4 * (8.4 + 28 * 3.4 + 2 * 14) * 1e-6, 1e-12);
  EXPECT_NEAR(all.at("tree LL128").latency_s, (14 + 2 * (7 * 1.25 + 8.5)) * 1e-6, 1e-12);
}

TEST(NcclTuning, TreesTakeTheLogarithmOfTheNodesAndTheMeanOfTheirGpus) {
  const auto all = ways({.ranks = 17, .nodes = 5, .inside_Bps = 3e11});  // 3 a node, 4 at the last
  EXPECT_NEAR(all.at("tree Simple").latency_s, (8.4 + 2 * (2 * 4 + 2 * 14)) * 1e-6, 1e-12);
}

TEST(NcclTuning, WithOneGpuPerNodeRingsHaveTheLatenciesOfTrees) {
  const auto all = ways({.ranks = 3, .nodes = 3});
  EXPECT_NEAR(all.at("ring LL").latency_s, (6.6 + 4 * 5) * 1e-6, 1e-12);
  EXPECT_NEAR(all.at("ring LL128").latency_s, (14 + 4 * 8.5) * 1e-6, 1e-12);
}

TEST(NcclTuning, PcieHasNoLl128AndItsOwnLatencies) {
  const auto all = ways({.ranks = 4, .nodes = 1, .inside_Bps = 63e9});
  EXPECT_FALSE(all.contains("ring LL128") || all.contains("tree LL128"));
  EXPECT_NEAR(all.at("ring Simple").latency_s, (8.4 + 6 * 5.7) * 1e-6, 1e-12);
}

TEST(NcclTuning, AProtocolKeepsAPartOfTheLinks) {
  constexpr std::uint64_t bytes = 16 << 20;
  const auto one = ways({.ranks = 8, .nodes = 1, .inside_Bps = 3e11}, bytes);
  constexpr double ring_s = 1e-3;
  EXPECT_NEAR(one.at("ring Simple").seconds(bytes, ring_s), 56e-6 + 1e-3, 1e-12);
  EXPECT_NEAR(one.at("ring LL128").seconds(bytes, ring_s), 40.6e-6 + 1e-3 / 0.92, 1e-12);
  // 16 MiB are 2^18 times 64 bytes, where trees by Simple keep 0.7 of 0.92.
  EXPECT_NEAR(one.at("tree Simple").seconds(bytes, ring_s), 64.4e-6 + 8. / 7 * 1e-3 / 0.644, 1e-12);
  EXPECT_NEAR(one.at("tree LL128").times, 8. / 7 / (0.92 * 7 / 9 * 0.9), 1e-12);
  const auto two = ways({.ranks = 16, .nodes = 2, .inside_Bps = 3e11}, bytes);
  EXPECT_NEAR(two.at("tree LL128").times, 16. / 15 / (0.92 * 120 / 128 * 0.9), 1e-12);
  EXPECT_EQ(one.at("ring LL").wire, 2);
  EXPECT_NEAR(one.at("ring LL128").wire, 128. / 120, 1e-12);
}

// However fast the links are: 87.7 GB/s of bus bandwidth on Ampere, where 8 GPUs move 14/8 of it.
TEST(NcclTuning, LlMovesNoMoreThanItsOwnLimit) {
  constexpr std::uint64_t bytes = 1 << 20;
  const double moved = static_cast<double>(bytes);
  const auto one = ways({.ranks = 8, .nodes = 1, .inside_Bps = 3e11}, bytes);
  EXPECT_NEAR(one.at("ring LL").seconds(bytes, 0), 15e-6 + moved * 14 / 8 / 87.7e9, 1e-12);
  EXPECT_NEAR(one.at("tree LL").seconds(bytes, 0), 15.2e-6 + moved * 2 / 87.7e9, 1e-12);
  const auto eight = ways({.ranks = 64, .nodes = 8, .inside_Bps = 3e11}, bytes);
  EXPECT_NEAR(eight.at("tree LL").seconds(bytes, 0),
              (6.8 + 2 * (7 * 0.6 + 3 * 5)) * 1e-6 + moved * 2 / 20.4e9, 1e-12);
}

// The table of trees begins at 64 bytes and ends at 256 MiB.
TEST(NcclTuning, TreesKeepAllTheirBandwidthBeyondTheTable) {
  const NcclMachine machine{.ranks = 16, .nodes = 2, .inside_Bps = 3e11};
  EXPECT_NEAR(ways(machine, 1).at("tree Simple").times, 16. / 15 / 0.92, 1e-12);
  EXPECT_NEAR(ways(machine, 64).at("tree Simple").times, 16. / 15 / 0.92 / 0.9, 1e-12);
  EXPECT_NEAR(ways(machine, std::uint64_t{1} << 30).at("tree Simple").times, 16. / 15 / 0.92,
              1e-12);
}

// Hopper and later, on several nodes: inside by the switch, over the network as a ring, but for two
// nodes, where a gradient crosses once.
TEST(NcclTuning, SwitchesThatAddMakeTreesOfNodes) {
  constexpr std::uint64_t bytes = 1 << 30;
  const double moved = static_cast<double>(bytes);
  EXPECT_FALSE(ways({.ranks = 8, .nodes = 1, .inside_Bps = 4.5e11}).contains("NVLSTree Simple"));
  EXPECT_FALSE(ways({.ranks = 16, .nodes = 2, .inside_Bps = 3e11}).contains("NVLSTree Simple"));
  const NcclWay two =
      ways({.ranks = 16, .nodes = 2, .inside_Bps = 4.5e11}, bytes).at("NVLSTree Simple");
  EXPECT_NEAR(two.latency_s, (25 + 2 * 20.9) * 1e-6, 1e-12);
  EXPECT_NEAR(two.seconds(bytes, 1), two.latency_s + 0.5, 1e-12);
  EXPECT_NEAR(two.seconds(bytes, 0),
              two.latency_s + moved * 2 * 15 / 16 / (2 * 0.85 * 7 / 8 * 4.5e11), 1e-12);
  const NcclWay nine =
      ways({.ranks = 72, .nodes = 9, .inside_Bps = 9e11}, bytes).at("NVLSTree Simple");
  EXPECT_NEAR(nine.seconds(bytes, 1), (25 + 2 * 3 * 20.9) * 1e-6 + 1, 1e-12);
}

}  // namespace
}  // namespace syncline

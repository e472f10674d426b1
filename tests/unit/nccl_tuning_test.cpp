// NCCL's own model of an all-reduce (sim/traffic/nccl_tuning.h), by hand.
#include "sim/traffic/nccl_tuning.h"

#include <cmath>
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
  const auto volta = ways({.ranks = 16, .nodes = 2, .inside_Bps = 1.5e11});
  EXPECT_NEAR(volta.at("ring Simple").latency_s, 1.9 * (8.4 + 28 * 3.4 + 2 * 14) * 1e-6, 1e-12);
}

// A ring of 2 x 8 GPUs leaves a node twice; a tree of 4 nodes goes up and down two levels.
TEST(NcclTuning, MessagesBetweenNodesTakeWhatTheNetworksPluginTells) {
  const NcclMachine pair{.ranks = 16, .nodes = 2, .inside_Bps = 4.5e11};
  const NcclMachine four{.ranks = 12, .nodes = 4, .inside_Bps = 4.5e11};
  const NcclMachine one{.ranks = 8, .nodes = 1, .inside_Bps = 4.5e11};
  const auto more_us = [](NcclMachine machine, const std::string& way) {
    const NcclWay without = ways(machine).at(way);
    machine.net_latency_s = 35e-6;
    const NcclWay with = ways(machine).at(way);
    EXPECT_EQ(with.saved_s, without.saved_s);
    EXPECT_EQ(with.seconds_per_byte, without.seconds_per_byte);
    return 1e6 * (with.latency_s - without.latency_s);
  };
  EXPECT_NEAR(more_us(pair, "ring LL"), 2 * 35, 1e-6);
  EXPECT_NEAR(more_us(pair, "ring Simple"), 1.4 * 2 * 70, 1e-6);
  EXPECT_NEAR(more_us(pair, "tree LL128"), 2 * 35, 1e-6);
  EXPECT_NEAR(more_us(four, "ring LL128"), 6 * 35, 1e-6);
  EXPECT_NEAR(more_us(four, "tree Simple"), 4 * 70, 1e-6);
  EXPECT_NEAR(more_us(four, "NVLSTree Simple"), 4 * 70, 1e-6);
  EXPECT_NEAR(more_us(one, "ring Simple"), 0, 1e-6);
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

// A ring of 8 moves 14/8 of the bytes at its bus bandwidth, here 235 GB/s; a tree moves 2.
TEST(NcclTuning, AProtocolKeepsAPartOfTheLinks) {
  constexpr std::uint64_t bytes = 16 << 20;
  constexpr double moved = 16 << 20;
  const auto one = ways({.ranks = 8, .nodes = 1, .inside_Bps = 3e11, .ring_Bps = 2.35e11}, bytes);
  const auto seconds = [&](const std::string& way) { return one.at(way).seconds(bytes); };
  EXPECT_NEAR(seconds("ring Simple"), 56e-6 + 1.75 * moved / 2.35e11, 1e-12);
  EXPECT_NEAR(seconds("ring LL128"), 40.6e-6 + 1.75 * moved / 2.35e11 / 0.92, 1e-12);
  // 16 MiB are 2^18 times 64 bytes, where trees by Simple keep 0.7 of 0.92.
  EXPECT_NEAR(seconds("tree Simple"), 64.4e-6 + 2 * moved / 2.35e11 / 0.644, 1e-12);
  EXPECT_NEAR(seconds("tree LL128"), 31.5e-6 + 2 * moved / 2.35e11 / (0.92 * 7 / 9 * 0.9), 1e-12);
  EXPECT_EQ(one.at("ring LL").wire, 2);
  EXPECT_NEAR(one.at("ring LL128").wire, 128. / 120, 1e-12);
}

// 20 of 25 GB/s a link on Ampere, 20.6 on Hopper, where NVLS makes up for it in one node.
TEST(NcclTuning, RingsGetOfNvlinkWhatNcclExpectsOfIt) {
  const auto bus_Bps = [](const NcclMachine& machine) {
    const double moved = 2. * (machine.ranks - 1) / machine.ranks;
    return moved / ways(machine).at("ring Simple").seconds_per_byte;
  };
  EXPECT_NEAR(bus_Bps({.ranks = 8, .nodes = 1, .inside_Bps = 3e11, .ring_Bps = 3e11}), 2.4e11, 1);
  EXPECT_NEAR(bus_Bps({.ranks = 3, .nodes = 1, .inside_Bps = 1.5e11, .ring_Bps = 1.5e11}), 1.2e11,
              1);
  EXPECT_NEAR(bus_Bps({.ranks = 8, .nodes = 1, .inside_Bps = 4.5e11, .ring_Bps = 4.5e11}), 4.5e11,
              1);
  EXPECT_NEAR(bus_Bps({.ranks = 16, .nodes = 2, .inside_Bps = 4.5e11, .ring_Bps = 4e11}), 3.708e11,
              1);
  EXPECT_NEAR(bus_Bps({.ranks = 16, .nodes = 2, .inside_Bps = 3e11, .ring_Bps = 1e11}), 1e11, 1);
  EXPECT_NEAR(bus_Bps({.ranks = 4, .nodes = 1, .inside_Bps = 6e9, .ring_Bps = 6e9}), 6e9, 1);
}

// Four cards of 100 Gbit/s and NVLink: a tree has twice their 50 GB/s. With cards of 150 GB/s it
// has the 240 GB/s of NVLink, with more cards never less, and between three nodes what a ring has.
TEST(NcclTuning, BetweenTwoNodesTreesHaveTwiceTheBandwidthAsFarAsNvlinkHasIt) {
  constexpr std::uint64_t bytes = std::uint64_t{1} << 30;
  const auto bus_Bps = [&](int nodes, double ring_Bps) {
    const NcclMachine machine{.ranks = 8 * nodes,
                              .nodes = nodes,
                              .inside_Bps = 3e11,
                              .ring_Bps = ring_Bps,
                              .channels = 16};
    return 2 / ways(machine, bytes).at("tree Simple").seconds_per_byte / 0.92;
  };
  EXPECT_NEAR(bus_Bps(2, 5e10), 1e11, 1);
  EXPECT_NEAR(bus_Bps(2, 1.19e11), 2.38e11, 1);
  EXPECT_NEAR(bus_Bps(2, 1.21e11), 2.4e11, 1);
  EXPECT_NEAR(bus_Bps(2, 2e11), 2.4e11, 1);
  EXPECT_NEAR(bus_Bps(3, 5e10), 5e10, 1);
  EXPECT_NEAR(bus_Bps(3, 2e11), 2e11, 1);
}

// PCIe of 12 GB/s likewise.
TEST(NcclTuning, BetweenTwoNodesTreesHaveTwiceTheBandwidthAsFarAsPcieHasIt) {
  for (const auto& [ring_Bps, tree_Bps] :
       {std::pair(3e9, 6e9), std::pair(9e9, 12e9), std::pair(12e9, 12e9)}) {
    const NcclMachine machine{.ranks = 8, .nodes = 2, .inside_Bps = 12e9, .ring_Bps = ring_Bps};
    EXPECT_NEAR(2 / ways(machine, 1 << 30).at("tree Simple").seconds_per_byte, 0.92 * tree_Bps, 1);
  }
}

// Eight cards of 200 Gbit/s of A100: trees move 23.6 GB/s on each of 8 channels between two nodes,
// 17.8 between more, 20 by LL128. Two cards have 4 channels.
TEST(NcclTuning, AChannelMovesNoMoreThanItsLimit) {
  constexpr std::uint64_t bytes = std::uint64_t{1} << 30;
  const auto bus_Bps = [&](int nodes, int channels, double inside_Bps, const std::string& way) {
    const NcclMachine machine{.ranks = 8 * nodes,
                              .nodes = nodes,
                              .inside_Bps = inside_Bps,
                              .ring_Bps = channels * (inside_Bps > 4e11 ? 50e9 : 25e9),
                              .channels = channels};
    const double n = machine.ranks;
    const double moved = way.starts_with("ring") ? 2 * (n - 1) / n : 2;
    return moved / ways(machine, bytes).at(way).seconds_per_byte;
  };
  EXPECT_NEAR(bus_Bps(2, 8, 3e11, "tree Simple"), 8 * 23.6e9, 1);
  EXPECT_NEAR(bus_Bps(4, 8, 3e11, "tree Simple"), 8 * 17.8e9, 1);
  EXPECT_NEAR(bus_Bps(2, 8, 3e11, "tree LL128"), 8 * 20e9, 1);
  EXPECT_NEAR(bus_Bps(2, 8, 3e11, "ring LL128"), 8 * 20e9, 1);
  EXPECT_NEAR(bus_Bps(4, 8, 4.5e11, "tree LL128"), 8 * 29e9, 1);
  // Cards of 400 Gbit/s: four have eight channels, whose limits they do not reach.
  EXPECT_NEAR(bus_Bps(4, 4, 4.5e11, "tree LL128"), 4 * 50e9 * 0.92 * 120 / 128, 1);
}

// Told by NVLink's rate only where nobody says which GPU it is: an H800 has 200 GB/s.
TEST(NcclTuning, TheGpuTellsItsGeneration) {
  NcclMachine machine{.ranks = 16, .nodes = 2, .inside_Bps = 2e11, .ring_Bps = 1e11};
  EXPECT_FALSE(ways(machine).contains("NVLSTree Simple"));
  machine.compute_capability = 9.0;
  EXPECT_TRUE(ways(machine).contains("NVLSTree Simple"));
  // On PCIe rings of Simple take 1.9 times as long before Ampere, 1.4 times from it on.
  NcclMachine pcie{.ranks = 8, .nodes = 2, .inside_Bps = 12e9, .compute_capability = 7.5};
  const double turing_s = ways(pcie).at("ring Simple").latency_s;
  pcie.compute_capability.reset();
  EXPECT_NEAR(turing_s / ways(pcie).at("ring Simple").latency_s, 1.9 / 1.4, 1e-9);
}

// GPUs before Volta have no LL128, nor have mixed ones before Hopper.
TEST(NcclTuning, Ll128NeedsAlikeGpusFromVoltaOn) {
  const auto has = [](std::optional<double> capability, bool is_mixed) {
    return ways({.ranks = 8,
                 .nodes = 1,
                 .inside_Bps = 1.5e11,
                 .compute_capability = capability,
                 .is_mixed = is_mixed})
        .contains("ring LL128");
  };
  EXPECT_FALSE(has(3.7, false) || has(6.0, false));
  EXPECT_TRUE(has(7.0, false) && has(std::nullopt, false));
  EXPECT_FALSE(has(7.0, true));
  EXPECT_TRUE(has(9.0, true));
}

// Between powers of two as well, so that a longer message never takes less.
TEST(NcclTuning, MoreBytesNeverTakeLess) {
  for (const NcclMachine& machine :
       {NcclMachine{.ranks = 24, .nodes = 3, .inside_Bps = 4.5e11, .ring_Bps = 4e11, .channels = 8},
        NcclMachine{.ranks = 72, .nodes = 9, .inside_Bps = 9e11, .ring_Bps = 4e11, .channels = 8},
        NcclMachine{.ranks = 4, .nodes = 4, .ring_Bps = 1.25e9}})
    for (const NcclProtocol protocol :
         {NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple}) {
      double before_s = 0;
      for (double bytes = 64; bytes < 4e9; bytes *= 1.01) {
        for (const NcclWay& way : nccl_ways(machine, static_cast<std::uint64_t>(bytes)))
          if (way.algorithm == NcclAlgorithm::tree && way.protocol == protocol) {
            EXPECT_GE(way.seconds(static_cast<std::uint64_t>(bytes)), before_s) << bytes;
            before_s = way.seconds(static_cast<std::uint64_t>(bytes));
          }
      }
    }
}

// However fast the links are: 87.7 GB/s of bus bandwidth on Ampere, where 8 GPUs move 14/8 of it.
TEST(NcclTuning, LlMovesNoMoreThanItsOwnLimit) {
  constexpr std::uint64_t bytes = 1 << 20;
  const double moved = static_cast<double>(bytes);
  const auto one = ways({.ranks = 8, .nodes = 1, .inside_Bps = 3e11}, bytes);
  EXPECT_NEAR(one.at("ring LL").seconds(bytes), 15e-6 + moved * 14 / 8 / 87.7e9, 1e-12);
  // Trees have less, 0.92 / 3.8 of NVLink, and keep 0.5 of it at 2^14 times 64 bytes.
  EXPECT_NEAR(one.at("tree LL").seconds(bytes), 15.2e-6 + moved * 2 / (0.5 * 2.4e11 * 0.92 / 3.8),
              1e-12);
  const auto eight = ways({.ranks = 64, .nodes = 8, .inside_Bps = 3e11, .channels = 16}, bytes);
  EXPECT_NEAR(eight.at("tree LL").seconds(bytes),
              (6.8 + 2 * (7 * 0.6 + 3 * 5)) * 1e-6 + moved * 2 / (0.5 * 20.4e9), 1e-12);
}

// The table of trees begins at 64 bytes and ends at 256 MiB.
TEST(NcclTuning, TreesKeepAllTheirBandwidthBeyondTheTable) {
  const NcclMachine machine{.ranks = 16, .nodes = 4, .inside_Bps = 3e11, .ring_Bps = 1e11};
  const auto part = [&](std::uint64_t bytes) {
    return 2 / 1e11 / ways(machine, bytes).at("tree Simple").seconds_per_byte;
  };
  EXPECT_NEAR(part(1), 0.92, 1e-12);
  EXPECT_NEAR(part(6 << 20), 0.92 * std::lerp(0.7, 0.8, std::log2(1.5)), 1e-12);
  EXPECT_NEAR(part(64), 0.92 * 0.9, 1e-12);
  EXPECT_NEAR(part(std::uint64_t{1} << 30), 0.92, 1e-12);
  // With one GPU per node its card has all edges of a tree.
  const NcclMachine alone{.ranks = 4, .nodes = 4, .ring_Bps = 1e11};
  EXPECT_NEAR(2 / 1e11 / ways(alone, std::uint64_t{1} << 30).at("tree Simple").seconds_per_byte,
              0.92 * 0.85, 1e-12);
}

// Hopper and later, on several nodes: inside by the switch, over the network as a ring, but for two
// nodes, where a gradient crosses once.
TEST(NcclTuning, SwitchesThatAddMakeTreesOfNodes) {
  constexpr std::uint64_t bytes = 1 << 30;
  const double moved = static_cast<double>(bytes);
  EXPECT_FALSE(ways({.ranks = 8, .nodes = 1, .inside_Bps = 4.5e11}).contains("NVLSTree Simple"));
  EXPECT_FALSE(ways({.ranks = 16, .nodes = 2, .inside_Bps = 3e11}).contains("NVLSTree Simple"));
  EXPECT_FALSE(ways({.ranks = 2, .nodes = 2, .inside_Bps = 4.5e11}).contains("NVLSTree Simple"));
  const auto seconds = [&](const NcclMachine& machine) {
    return ways(machine, bytes).at("NVLSTree Simple").seconds(bytes);
  };
  EXPECT_NEAR(seconds({.ranks = 16, .nodes = 2, .inside_Bps = 4.5e11, .ring_Bps = 2e11}),
              (25 + 2 * 20.9) * 1e-6 + moved * 2 * 15 / 16 / 4e11, 1e-12);
  EXPECT_NEAR(seconds({.ranks = 16, .nodes = 2, .inside_Bps = 4.5e11, .ring_Bps = 4e11}),
              (25 + 2 * 20.9) * 1e-6 + moved * 2 * 15 / 16 / (8 * 57.7e9), 1e-12);
  EXPECT_NEAR(seconds({.ranks = 16, .nodes = 2, .inside_Bps = 3.8e11, .ring_Bps = 4e11}),
              (25 + 2 * 20.9) * 1e-6 + moved * 2 * 15 / 16 / (8 * 57.7e9), 1e-12);
  EXPECT_NEAR(seconds({.ranks = 72, .nodes = 9, .inside_Bps = 9e11, .ring_Bps = 4e11}),
              (25 + 2 * 3 * 20.9) * 1e-6 + moved * 2 * 71 / 72 / 4e11, 1e-12);
  // Blackwell's keep 0.9 at 2^23 times 64 bytes.
  EXPECT_NEAR(ways({.ranks = 72, .nodes = 9, .inside_Bps = 9e11, .ring_Bps = 4e11}, bytes / 2)
                  .at("NVLSTree Simple")
                  .seconds(bytes / 2),
              (25 + 2 * 3 * 20.9) * 1e-6 + moved / 2 * 2 * 71 / 72 / (0.9 * 4e11), 1e-12);
  EXPECT_NEAR(seconds({.ranks = 32, .nodes = 4, .inside_Bps = 4.5e11, .ring_Bps = 4e11}),
              (25 + 2 * 2 * 20.9) * 1e-6 + moved * 2 * 31 / 32 / (8 * 45.5e9), 1e-12);
  // A channel for each GPU of a node.
  EXPECT_NEAR(seconds({.ranks = 8, .nodes = 2, .inside_Bps = 4.5e11, .ring_Bps = 2e11}),
              (25 + 2 * 20.9) * 1e-6 + moved * 2 * 7 / 8 / (4 * 57.7e9), 1e-12);
}

}  // namespace
}  // namespace syncline

// Closed forms of each exchange: bytes, steps, and that its sums contain every gradient once.
#include <algorithm>
#include <bit>
#include <gtest/gtest.h>
#include <set>

#include "tests/unit/collective.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

// The minimum: each gradient travels into the sum, and the sum back to each worker, so 2(n-1)
// buffers.
void expect_least_volume(const Collective& all) {
  EXPECT_EQ(sent_by_all(all), 2 * (at(all.topology.workers()) - 1) * all.bytes);
}

TEST(RingExchange, SendsTwoNMinusOneOverN) {
  for_each_collective("ring", [](const Collective& all) {
    expect_least_volume(all);
    const auto n = static_cast<std::uint64_t>(all.topology.workers());
    for (const Plan& plan : all.plans) {
      if (all.bytes % n == 0) {
        EXPECT_EQ(sent_by(plan), 2 * (n - 1) * (all.bytes / n));
      }
      EXPECT_NEAR(static_cast<double>(sent_by(plan)),
                  2.0 * static_cast<double>((n - 1) * all.bytes) / static_cast<double>(n), 2);
      EXPECT_EQ(steps_of(plan), n == 1 ? 0 : 2 * static_cast<int>(n - 1));
    }
  });
}

TEST(RingExchange, LeavesEachNodeOnce) {
  const Collective all = collective("ring", make_topology({4, 4, 4}, 0), 1200);
  for (int rank = 0; rank < 12; ++rank)
    for (const Action& phase : actions_of(all.plans[at(rank)]))
      for (const Transfer& send : phase.sends)
        EXPECT_EQ(send.peer, (rank + 1) % 12);
}

// Bytes that leave each node.
std::vector<std::uint64_t> leaving(const Collective& all) {
  std::vector<std::uint64_t> bytes(all.topology.nodes.size());
  for (int rank = 0; rank < all.topology.workers(); ++rank)
    for (const Action& phase : actions_of(all.plans[at(rank)]))
      for (const Transfer& send : phase.sends) {
        const int node = all.topology.node_of[at(rank)];
        if (send.peer >= all.topology.workers() || all.topology.node_of[at(send.peer)] != node)
          bytes[at(node)] += send.bytes;
      }
  return bytes;
}

TEST(HierarchicalExchange, SendsTwoNMinusOneOverNOutOfEachNode) {
  for_each_collective("hierarchical", [](const Collective& all) {
    const auto nodes = static_cast<std::uint64_t>(all.topology.nodes.size());
    const auto m = static_cast<std::uint64_t>(all.topology.nodes[0].size());
    std::uint64_t sum = 0;
    for (const std::uint64_t bytes : leaving(all)) {
      if (all.bytes % (nodes * m) == 0) {
        EXPECT_EQ(bytes, 2 * (nodes - 1) * (all.bytes / nodes));
      }
      sum += bytes;
    }
    EXPECT_EQ(sum, 2 * (nodes - 1) * all.bytes);
    expect_least_volume(all);
    for (const Plan& plan : all.plans)
      EXPECT_EQ(steps_of(plan), static_cast<int>(2 * (nodes - 1) + 2 * (m - 1)));
  });
}

TEST(HierarchicalExchange, ExchangesWithSamePositionInOtherNodes) {
  const Collective all = collective("hierarchical", make_topology({3, 3, 3}, 0), 900);
  for (int rank = 0; rank < 9; ++rank)
    for (const Action& phase : actions_of(all.plans[at(rank)]))
      for (const Transfer& send : phase.sends)
        EXPECT_TRUE(send.peer / 3 == rank / 3 || send.peer % 3 == rank % 3)
            << rank << " to " << send.peer;
}

TEST(HierarchicalExchange, RefusesUnevenNodesAndSaysHowMany) {
  expect_mentions(error_of([] {
                    collective("hierarchical", make_topology({4, 2}, 0), 100);
                  }),
                  {"hierarchical", "4", "2"});
}

// Text of what each phase sends, or of its messages and elements.
std::string written(const Plan& plan) {
  std::string text;
  for (const Action& phase : actions_of(plan)) {
    text += text.empty() ? "" : ", ";
    text += phase.name;
    text += phase.messages > 0
                ? " " + std::to_string(phase.messages) + "x" + std::to_string(phase.elements)
                : " " + std::to_string(phase.sends[0].bytes);
  }
  return text;
}

std::string hierarchical_plan(bool summable, const std::string& in_node, int nodes = 4, int m = 3,
                              int all_reduces = 1) {
  const Collective all =
      collective("hierarchical", make_topology(std::vector<int>(at(nodes), m), 0),
                 {.bytes = 1200,
                  .dense_bytes = 48000,
                  .elements = 12000,
                  .summable = summable,
                  .all_reduces = all_reduces},
                 {{"in-node", in_node}});
  for (const Plan& plan : all.plans)
    EXPECT_EQ(written(plan), written(all.plans[0]));
  return written(all.plans[0]);
}

TEST(HierarchicalExchange, CompressesOnlyWhatCrossesNodes) {
  EXPECT_EQ(hierarchical_plan(true, "dense"),
            "reduce-scatter 32000, compress 1x4000, all-reduce 600, decompress 1x4000, "
            "all-gather 32000");
  EXPECT_EQ(hierarchical_plan(false, "dense"),
            "reduce-scatter 32000, compress 1x4000, all-gather-across 1200, decompress 4x4000, "
            "all-gather 32000");
  EXPECT_EQ(hierarchical_plan(true, "dense", 12, 1),
            "compress 1x12000, all-reduce 2200, decompress 1x12000");
  EXPECT_EQ(hierarchical_plan(false, "dense", 12, 1),
            "compress 1x12000, all-gather-across 13200, decompress 12x12000");
  for (const bool summable : {true, false})
    EXPECT_EQ(hierarchical_plan(summable, "dense", 1, 12),
              "reduce-scatter 44000, all-gather 44000");
}

TEST(HierarchicalExchange, CompressesAddableMessagesInTheNodeToo) {
  EXPECT_EQ(hierarchical_plan(true, "compressed"),
            "compress 1x12000, reduce-scatter 800, all-reduce 600, all-gather 800, "
            "decompress 1x12000");
  EXPECT_EQ(hierarchical_plan(true, "compressed", 1, 12),
            "compress 1x12000, reduce-scatter 1100, all-gather 1100, decompress 1x12000");
  expect_mentions(error_of([] { hierarchical_plan(false, "compressed"); }),
                  {"in-node = compressed", "added", "in-node = dense"});
}

TEST(HierarchicalExchange, RepeatsTheAllReduceForMessagesThatNeedTwo) {
  EXPECT_EQ(hierarchical_plan(true, "dense", 4, 3, 2),
            "reduce-scatter 32000, compress 1x4000, all-reduce 300, all-reduce 300, "
            "decompress 1x4000, all-gather 32000");
  EXPECT_EQ(hierarchical_plan(true, "compressed", 4, 3, 2),
            "compress 1x12000, reduce-scatter 400, all-reduce 300, all-gather 400, "
            "reduce-scatter 400, all-reduce 300, all-gather 400, decompress 1x12000");
}

TEST(HierarchicalExchange, IsTheSameEitherWayWithoutCompression) {
  for_each_topology("hierarchical", [](const Topology& topology) {
    const Collective inside =
        collective("hierarchical", topology, 1001, {{"in-node", "compressed"}});
    const Collective across = collective("hierarchical", topology, 1001);
    for (int rank = 0; rank < topology.workers(); ++rank)
      EXPECT_EQ(written(inside.plans[at(rank)]), written(across.plans[at(rank)]));
  });
}

TEST(HalvingDoubling, IsOptimalForPowersOfTwo) {
  for_each_collective("halving-doubling", [](const Collective& all) {
    expect_least_volume(all);
    const auto n = static_cast<std::uint64_t>(all.topology.workers());
    const int rounds = std::countr_zero(std::bit_floor(n));
    for (const Plan& plan : all.plans)
      if (std::has_single_bit(n)) {
        if (all.bytes % n == 0) {
          EXPECT_EQ(sent_by(plan), 2 * (n - 1) * (all.bytes / n));
        }
        EXPECT_EQ(steps_of(plan), 2 * rounds);
      } else {
        EXPECT_LE(steps_of(plan), 2 * rounds + 2);
      }
  });
}

// For each byte of a buffer: one bit per rank whose gradient has been added.
struct Buffer {
  std::vector<std::uint64_t> added;
  std::size_t begin = 0;  // the part that its rank is responsible for
  std::size_t end = 0;
};

// Executes the plans pair by pair: in a round both partners are responsible for the same part, and
// the lower rank keeps the lower half.
void run_halving(const std::vector<Plan>& all_plans, std::vector<Buffer>& buffers) {
  const std::vector<Actions> plans = actions_of(all_plans);
  std::vector<std::size_t> place(plans.size());
  for (bool moved = true; moved;) {
    moved = false;
    for (int rank = 0; rank < static_cast<int>(plans.size()); ++rank) {
      if (place[at(rank)] == plans[at(rank)].size())
        continue;
      const Action& phase = plans[at(rank)][place[at(rank)]];
      const Transfer& transfer = phase.sends.empty() ? phase.receives[0] : phase.sends[0];
      const int peer = transfer.peer;
      if (place[at(peer)] == plans[at(peer)].size())
        continue;
      const Action& theirs = plans[at(peer)][place[at(peer)]];
      const bool in_same_round =
          theirs.name == phase.name &&
          (theirs.sends.empty() ? theirs.receives[0] : theirs.sends[0]).peer == rank;
      if (!in_same_round || phase.sends.empty() || (!phase.receives.empty() && peer < rank))
        continue;
      Buffer& low = buffers[at(rank)];
      Buffer& high = buffers[at(peer)];
      if (phase.name == "fold" || phase.name == "unfold") {
        ASSERT_EQ(phase.sends[0].bytes, low.added.size());
        for (std::size_t i = 0; i < low.added.size(); ++i) {
          if (phase.name == "fold") {
            ASSERT_EQ(high.added[i] & low.added[i], 0U) << "added twice";
          }
          high.added[i] = phase.name == "fold" ? high.added[i] | low.added[i] : low.added[i];
        }
      } else if (phase.name == "halve") {
        ASSERT_EQ(low.begin, high.begin);
        ASSERT_EQ(low.end, high.end);
        ASSERT_EQ(phase.sends[0].bytes + phase.receives[0].bytes, low.end - low.begin);
        const std::size_t middle = low.begin + phase.receives[0].bytes;
        for (std::size_t i = low.begin; i < low.end; ++i) {
          ASSERT_EQ(low.added[i] & high.added[i], 0U) << "added twice";
          (i < middle ? low : high).added[i] = low.added[i] | high.added[i];
        }
        low.end = middle;
        high.begin = middle;
      } else {
        ASSERT_EQ(phase.name, "double");
        ASSERT_EQ(low.end, high.begin);
        ASSERT_EQ(phase.sends[0].bytes, low.end - low.begin);
        ASSERT_EQ(phase.receives[0].bytes, high.end - high.begin);
        for (std::size_t i = low.begin; i < high.end; ++i)
          (i < low.end ? high : low).added[i] = (i < low.end ? low : high).added[i];
        low.end = high.end;
        high.begin = low.begin;
      }
      ++place[at(rank)];
      ++place[at(peer)];
      moved = true;
    }
  }
  for (std::size_t rank = 0; rank < plans.size(); ++rank)
    ASSERT_EQ(place[rank], plans[rank].size()) << "rank " << rank << " is stuck";
}

TEST(HalvingDoubling, GivesEveryWorkerTheSumOfEveryByte) {
  for (int n = 2; n <= 33; ++n)
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{7}, std::size_t{33}, std::size_t{128}}) {
      SCOPED_TRACE(std::to_string(n) + " workers, " + std::to_string(bytes) + " bytes");
      const Collective all =
          collective("halving-doubling", make_topology(std::vector<int>(at(n), 1), 0), bytes);
      std::vector<Buffer> buffers;
      for (int rank = 0; rank < n; ++rank)
        buffers.push_back({std::vector<std::uint64_t>(bytes, std::uint64_t{1} << rank), 0, bytes});
      run_halving(all.plans, buffers);
      for (const Buffer& buffer : buffers)
        for (const std::uint64_t added : buffer.added)
          ASSERT_EQ(added, (std::uint64_t{1} << n) - 1);
    }
}

}  // namespace
}  // namespace syncline

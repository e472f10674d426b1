// The rounds of an all-to-all as one phase: the same bytes over fewer flows.
#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <set>

#include "tests/unit/collective.h"

namespace syncline {
namespace {

std::vector<Plan> fused(const Collective& all) {
  std::vector<Plan> plans;
  for (int rank = 0; rank < all.topology.workers(); ++rank)
    plans.push_back(with_fused_rounds(all.plans[at(rank)], all.topology, rank));
  return plans;
}

// Bytes by node of the other rank.
std::map<int, std::uint64_t> bytes_by_node(const Collective& all, const Plan& plan,
                                           std::vector<Transfer> Action::*which) {
  std::map<int, std::uint64_t> bytes;
  for (const Action& phase : actions_of(plan))
    if (phase.name == "all-to-all" || phase.name == "split" || phase.name == "balance")
      for (const Transfer& transfer : phase.*which)
        bytes[all.topology.node_of[at(transfer.peer)]] += transfer.bytes;
  return bytes;
}

class FusedRounds : public testing::TestWithParam<std::string> {
 public:
  void for_each(const std::function<void(const Collective&, const std::vector<Plan>&)>& check) {
    const auto both = [&](const Collective& all) { check(all, fused(all)); };
    const Given given = GetParam() == "oktopk" ? Given{{"balance", "on"}} : Given{};
    for_each_compressed(GetParam(), both, given);
    for_each_collective(GetParam(), both, given);
  }
};

TEST_P(FusedRounds, KeepEveryWorkersBytesAndSteps) {
  for_each([](const Collective& all, const std::vector<Plan>& plans) {
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
      EXPECT_EQ(sent_by(plans[rank]), sent_by(all.plans[rank])) << rank;
      EXPECT_EQ(received_by(plans[rank]), received_by(all.plans[rank])) << rank;
      EXPECT_EQ(steps_of(plans[rank]), steps_of(all.plans[rank])) << rank;
    }
  });
}

// For each node, if there is a flow to every node; otherwise inside and out of the node.
TEST_P(FusedRounds, KeepTheBytesBetweenNodes) {
  for_each([](const Collective& all, const std::vector<Plan>& plans) {
    for (int rank = 0; rank < all.topology.workers(); ++rank)
      for (const auto which : {&Action::sends, &Action::receives}) {
        std::map<int, std::uint64_t> rounds = bytes_by_node(all, all.plans[at(rank)], which);
        std::map<int, std::uint64_t> flows = bytes_by_node(all, plans[at(rank)], which);
        const int node = all.topology.node_of[at(rank)];
        EXPECT_EQ(flows[node], rounds[node]);
        if (all.topology.nodes.size() <= 9) {
          EXPECT_EQ(flows, rounds);
        }
      }
  });
}

TEST_P(FusedRounds, AreFewFlowsThatTheirReceiversExpect) {
  for_each([](const Collective& all, const std::vector<Plan>& plans) {
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
      if (!nodes_of_one_size(all.topology)) {  // then nothing is fused
        EXPECT_EQ(plans[rank].size(), all.plans[rank].size());
        continue;
      }
      const Actions own = actions_of(plans[rank]);
      for (std::size_t i = 0; i < own.size(); ++i) {
        const Action& phase = own[i];
        EXPECT_LE(phase.sends.size(), 16U);
        std::set<int> peers;
        for (const Transfer& send : phase.sends) {
          EXPECT_TRUE(peers.insert(send.peer).second) << "two flows to one worker";
          const std::vector<Transfer> other = actions_of(plans[at(send.peer)])[i].receives;
          EXPECT_EQ(std::ranges::count(other, static_cast<int>(rank), &Transfer::peer), 1);
        }
      }
      EXPECT_LE(plans[rank].size(), 6U);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Of, FusedRounds, testing::Values("alltoall", "oktopk"),
                         [](const auto& about) { return about.param; });

bool has_rounds(const Plan& plan) {
  return std::ranges::any_of(plan, [](const auto& action) {
    const Phase* phase = std::get_if<Phase>(&action);
    return phase != nullptr && phase->round;
  });
}

TEST(PlansWithoutRounds, StayAsTheyAre) {
  int plans = 0;
  for (const auto& [name, exchange] : Registered<Exchange>::all())
    for_each_collective(name, [&](const Collective& all) {
      for (int rank = 0; rank < static_cast<int>(all.plans.size()); ++rank) {
        if (has_rounds(all.plans[at(rank)]))
          continue;
        const Actions plan = actions_of(all.plans[at(rank)]);
        const Actions same = actions_of(with_fused_rounds(all.plans[at(rank)], all.topology, rank));
        ASSERT_EQ(same.size(), plan.size());
        for (std::size_t i = 0; i < plan.size(); ++i)
          EXPECT_EQ(same[i].sends.size(), plan[i].sends.size());
        ++plans;
      }
    });
  EXPECT_GT(plans, 1000);
}

// Eight flows carry the bytes for all distances.
TEST(ManyRounds, GoToEightEvenlySpacedNodes) {
  const Collective all =
      collective("alltoall", make_topology(std::vector<int>(1025, 1), 0), 1025 * 1000);
  const Actions plan = actions_of(with_fused_rounds(all.plans[3], all.topology, 3));
  ASSERT_EQ(plan.front().sends.size(), 8U);
  for (int i = 0; i < 8; ++i) {
    const Transfer& send = plan.front().sends[at(i)];
    EXPECT_EQ(send.bytes, 128'000U);
    EXPECT_EQ(send.peer, 3 + 128 * i + 64);
    EXPECT_EQ(plan.front().receives[at(i)].peer, (1025 + 3 - (128 * i + 64)) % 1025);
  }
}

}  // namespace
}  // namespace syncline

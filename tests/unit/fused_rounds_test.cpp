// The rounds of an all-to-all, some of which stand for several: the same bytes in fewer messages.
#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <set>

#include "sim/collectives.h"
#include "tests/unit/collective.h"

namespace syncline {
namespace {

std::vector<Plan> fused(const Collective& all) {
  std::vector<Plan> plans;
  for (int rank = 0; rank < all.topology.workers(); ++rank)
    plans.push_back(with_fused_rounds(all.plans[at(rank)], all.topology));
  return plans;
}

// Bytes exchanged with each node.
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
    const GivenSettings given =
        GetParam() == "oktopk" ? GivenSettings{{"balance", "on"}} : GivenSettings{};
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

TEST_P(FusedRounds, KeepTheBytesInsideANode) {
  for_each([](const Collective& all, const std::vector<Plan>& plans) {
    for (int rank = 0; rank < all.topology.workers(); ++rank)
      for (const auto which : {&Action::sends, &Action::receives}) {
        std::map<int, std::uint64_t> rounds = bytes_by_node(all, all.plans[at(rank)], which);
        std::map<int, std::uint64_t> flows = bytes_by_node(all, plans[at(rank)], which);
        const int node = all.topology.node_of[at(rank)];
        EXPECT_EQ(flows[node], rounds[node]);
        if (all.topology.workers() <= 17) {
          EXPECT_EQ(flows, rounds);
        }
      }
  });
}

TEST_P(FusedRounds, HaveOnePartnerThatExpectsThem) {
  for_each([](const Collective& all, const std::vector<Plan>& plans) {
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
      EXPECT_LE(plans[rank].size(), all.plans[rank].size());
      const Actions own = actions_of(plans[rank]);
      for (std::size_t i = 0; i < own.size(); ++i) {
        if (own[i].sends.empty())
          continue;  // it acts on messages
        ASSERT_EQ(own[i].sends.size(), 1U);
        const Actions other = actions_of(plans[at(own[i].sends[0].peer)]);
        EXPECT_EQ(other[i].receives[0].peer, static_cast<int>(rank));
        EXPECT_EQ(other[i].steps, own[i].steps);
      }
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
        const Actions same = actions_of(with_fused_rounds(all.plans[at(rank)], all.topology));
        ASSERT_EQ(same.size(), plan.size());
        for (std::size_t i = 0; i < plan.size(); ++i)
          EXPECT_EQ(same[i].sends.size(), plan[i].sends.size());
        ++plans;
      }
    });
  EXPECT_GT(plans, 1000);
}

// Sixteen rounds stand for 64 each.
TEST(ManyRounds, AreSixteenEvenlySpacedOnes) {
  const Collective all =
      collective("alltoall", make_topology(std::vector<int>(1025, 1), 0), 1025 * 1000);
  const Actions plan = actions_of(with_fused_rounds(all.plans[3], all.topology));
  ASSERT_GE(plan.size(), 16U);
  for (int i = 0; i < 16; ++i) {
    const Action& round = plan[at(i)];
    EXPECT_EQ(round.steps, 64);
    EXPECT_EQ(round.sends[0].bytes, 64'000U);
    EXPECT_EQ(round.sends[0].peer, 3 + 64 * i + 32);
    EXPECT_EQ(round.receives[0].peer, (1025 + 3 - (64 * i + 32)) % 1025);
  }
}

// On nodes of four, a round goes 0, 1, 2 or 3 places on, so that on rails the share of messages
// that stay on their rail is that of all rounds.
TEST(ManyRounds, ChangePlacesInNodesInTurn) {
  const Collective all = collective("alltoall", make_topology(std::vector<int>(32, 4), 0), 128'000);
  std::map<int, int> rounds_by_places;
  for (const Action& round : actions_of(with_fused_rounds(all.plans[0], all.topology)))
    if (round.name == "all-to-all" && round.sends[0].peer >= 4 && round.sends[0].peer <= 124)
      rounds_by_places[round.sends[0].peer % 4] += round.steps;
  EXPECT_EQ(rounds_by_places.size(), 4U);
  for (const auto& [places, rounds] : rounds_by_places)
    EXPECT_NEAR(rounds, 121 / 4.0, 4) << places;
}

}  // namespace
}  // namespace syncline

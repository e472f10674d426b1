// Laws of every exchange: messages match, nothing deadlocks, groups agree.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <tuple>

#include "tests/unit/collective.h"

namespace syncline {
namespace {

using Pair = std::pair<int, int>;  // sender, receiver

// The messages of each pair of ranks, in order: (steps, bytes).
std::map<Pair, std::vector<std::pair<int, std::uint64_t>>> messages(const Collective& all,
                                                                    bool as_sent) {
  std::map<Pair, std::vector<std::pair<int, std::uint64_t>>> messages_by_pair;
  for (int rank = 0; rank < static_cast<int>(all.plans.size()); ++rank)
    for (const Action& phase : actions_of(all.plans[at(rank)]))
      for (const Transfer& transfer : as_sent ? phase.sends : phase.receives)
        messages_by_pair[as_sent ? Pair{rank, transfer.peer} : Pair{transfer.peer, rank}]
            .emplace_back(phase.steps, transfer.bytes);
  return messages_by_pair;
}

// Executes plans step by step, as soon as messages and groups allow.
class Execution {
 public:
  explicit Execution(const std::vector<Plan>& plans)
      : plans_(actions_of(plans)), states_(plans.size()) {}

  // False if there is a deadlock.
  bool ends() {
    do {
      moved_ = false;
      for (std::size_t rank = 0; rank < plans_.size(); ++rank)
        while (advance(static_cast<int>(rank)))
          moved_ = true;
    } while (moved_);
    for (std::size_t rank = 0; rank < plans_.size(); ++rank)
      if (states_[rank].phase < plans_[rank].size())
        return false;
    return true;
  }

 private:
  struct RankState {
    std::size_t phase = 0;
    int step = 0;
    bool arrived = false;  // at its group
    bool posted = false;
    int generation = 0;  // of the group, when it arrived
    struct Message {
      Pair pair;
      int number;
      bool sent;  // otherwise received
    };
    std::vector<Message> messages;  // of this step
  };
  struct Group {
    int arrived = 0;
    int generation = 0;
  };

  bool advance(int rank) {
    RankState& state = states_[at(rank)];
    if (state.phase == plans_[at(rank)].size())
      return false;
    const Action& phase = plans_[at(rank)][state.phase];
    if (state.step == 0 && !state.posted && phase.steps > 1 && phase.group_size > 1) {
      Group& group = groups_[phase.group];
      if (!state.arrived) {
        state.arrived = moved_ = true;
        state.generation = group.generation;
        if (++group.arrived == phase.group_size) {
          group.arrived = 0;
          ++group.generation;
        }
      }
      if (group.generation == state.generation)
        return false;
    }
    if (!state.posted)
      post(rank, phase, state);
    for (const RankState::Message& message : state.messages)
      if ((message.sent ? received_ : sent_)[message.pair] <= message.number)
        return false;
    state.posted = false;
    if (++state.step == phase.steps) {
      state.step = 0;
      state.arrived = false;
      ++state.phase;
    }
    return true;
  }

  void post(int rank, const Action& phase, RankState& state) {
    state.posted = moved_ = true;
    state.messages.clear();
    for (const Transfer& send : phase.sends)
      state.messages.push_back({{rank, send.peer}, sent_[{rank, send.peer}]++, true});
    for (const Transfer& receive : phase.receives)
      state.messages.push_back({{receive.peer, rank}, received_[{receive.peer, rank}]++, false});
  }

  std::vector<Actions> plans_;
  std::vector<RankState> states_;
  std::map<Pair, int> sent_;
  std::map<Pair, int> received_;
  std::map<int, Group> groups_;
  bool moved_ = false;
};

TEST(Execution, FindsADeadlock) {  // so the test below can fail
  const Phase send{.verb = Verb::push, .sends = {{1, 1}}, .receives = {}};
  const Phase receive{.verb = Verb::push, .sends = {}, .receives = {{1, 1}}};
  const Phase send_to_0{.verb = Verb::push, .sends = {{0, 1}}, .receives = {}};
  const Phase receive_from_0{.verb = Verb::push, .sends = {}, .receives = {{0, 1}}};
  EXPECT_TRUE(Execution({{send, receive}, {receive_from_0, send_to_0}}).ends());
  EXPECT_FALSE(Execution({{receive, send}, {receive_from_0, send_to_0}}).ends());
}

struct Variant {
  std::string exchange;
  GivenSettings given = {};
  bool sums = false;  // carries only messages that can be added
};

// Every registered exchange with its defaults, as flows if it has such a plan, and with each other
// word that its parameters allow.
std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const auto& [name, exchange] : Registered<Exchange>::all()) {
    all.push_back({name});
    if (exchange.flow_plan)
      all.push_back({name, {{"fidelity", "flow"}}});
    for (const OwnOption& parameter : exchange.options)
      for (const std::string& choice : parameter.choices)
        if (choice != parameter.fallback)
          all.push_back({name,
                         {{parameter.name, choice}},
                         parameter.name == "in-node" && choice == "compressed"});
  }
  return all;
}

std::string name_of(const Variant& variant) {
  std::string name = variant.exchange;
  for (const auto& [parameter, value] : variant.given)
    name += "_" + value;
  std::erase(name, '-');
  return name;
}

// Test names contain this; without it they would contain the bytes in memory.
void PrintTo(const Variant& variant, std::ostream* out) {
  *out << name_of(variant);
}

class EveryExchange : public testing::TestWithParam<Variant> {};

// With uncompressed and with compressed gradients.
template <class Check>
void for_all_payloads(const Variant& variant, Check check) {
  for_each_collective(variant.exchange, check, variant.given);
  if (testing::Test::HasFailure())
    return;
  for_each_topology(variant.exchange, [&](const Topology& topology) {
    std::vector<Payload> payloads = compressed_payloads(variant.exchange, topology.workers());
    for (Payload& payload : payloads)
      payload.summable = payload.summable || variant.sums;
    for_each_payload(variant.exchange, topology, variant.given, payloads, check);
  });
}

TEST_P(EveryExchange, SendsWhatItsPeersReceiveInTheSameOrder) {
  for_all_payloads(GetParam(), [](const Collective& all) {
    EXPECT_EQ(messages(all, true), messages(all, false));
  });
}

TEST_P(EveryExchange, NeverDeadlocks) {
  for_all_payloads(GetParam(),
                   [](const Collective& all) { EXPECT_TRUE(Execution(all.plans).ends()); });
}

TEST_P(EveryExchange, HasGroupsWhoseMembersAgree) {
  for_all_payloads(GetParam(), [](const Collective& all) {
    std::map<int, std::set<int>> sizes;
    std::map<int, std::map<int, std::vector<int>>> members;  // by group: their phases' steps
    for (int rank = 0; rank < static_cast<int>(all.plans.size()); ++rank)
      for (const Action& phase : actions_of(all.plans[at(rank)])) {
        if (phase.group_size == 0)
          continue;
        sizes[phase.group].insert(phase.group_size);
        members[phase.group][rank].push_back(phase.steps);
      }
    for (const auto& [group, phases] : members) {
      ASSERT_EQ(sizes[group].size(), 1U);
      EXPECT_EQ(static_cast<int>(phases.size()), *sizes[group].begin());
      for (const auto& [rank, steps] : phases)
        EXPECT_EQ(steps, phases.begin()->second) << "rank " << rank << " of group " << group;
    }
  });
}

TEST_P(EveryExchange, PeersAreOtherParticipants) {
  for_all_payloads(GetParam(), [](const Collective& all) {
    const int ranks = static_cast<int>(all.plans.size());
    for (int rank = 0; rank < ranks; ++rank)
      for (const Action& phase : actions_of(all.plans[at(rank)])) {
        EXPECT_GE(phase.steps, 1);
        for (const auto& transfers : {phase.sends, phase.receives})
          for (const Transfer& transfer : transfers) {
            EXPECT_NE(transfer.peer, rank);
            EXPECT_GE(transfer.peer, 0);
            EXPECT_LT(transfer.peer, ranks);
          }
      }
  });
}

TEST_P(EveryExchange, CompressesOnlyWhenThereIsACompressor) {
  for_all_payloads(GetParam(), [](const Collective& all) {
    for (int rank = 0; rank < static_cast<int>(all.plans.size()); ++rank)
      for (const Action& phase : actions_of(all.plans[at(rank)])) {
        const bool work = phase.name == "compress" || phase.name == "decompress";
        EXPECT_EQ(phase.messages > 0, work);
        EXPECT_EQ(phase.elements > 0, work);
        if (!work)
          continue;
        EXPECT_GT(all.payload.elements, 0U);
        EXPECT_LT(rank, all.topology.workers());
        EXPECT_TRUE(phase.sends.empty() && phase.receives.empty());
        EXPECT_EQ(phase.steps, 1);
        EXPECT_EQ(phase.group_size, 0);
      }
  });
}

TEST_P(EveryExchange, DoesNothingForOneWorker) {
  for (const int servers : {1, 2})
    for (const Payload& payload : {dense(1000), topk(10, 1000)})
      for (const Plan& plan :
           collective(GetParam().exchange, make_topology({1}, servers), payload, GetParam().given)
               .plans)
        EXPECT_TRUE(plan.empty());
}

TEST_P(EveryExchange, BringsEveryGradientToEveryWorker) {
  const std::string& exchange = GetParam().exchange;
  for (const int workers : {2, 3, 4, 5, 8, 12, 13, 32, 33})
    for (const Shape& shape : shapes_of(workers)) {
      if (needs_even_nodes(exchange) && !shape.even)
        continue;
      // With many workers, each flow of `ps` carries the bytes of several.
      if (exchange == "ps" && GetParam().given.contains("fidelity") && workers > 9)
        continue;
      SCOPED_TRACE(std::to_string(workers) + " workers, " + shape.name);
      const auto nodes = static_cast<int>(shape.workers_in_node.size());
      Payload compressed = topk(1000, 100000);
      compressed.summable = GetParam().sums;
      for (const Payload& payload : {dense(1000), compressed}) {
        const Collective all = collective(exchange, make_topology(shape.workers_in_node, nodes),
                                          payload, GetParam().given);
        std::vector<std::uint64_t> contributions(all.plans.size());
        for (int worker = 0; worker < workers; ++worker)
          contributions[at(worker)] = std::uint64_t{1} << worker;
        execute(actions_of(all.plans), contributions,
                [](std::uint64_t& own, std::uint64_t message, int, int, const Action&,
                   std::uint64_t) { own |= message; });
        for (int worker = 0; worker < workers; ++worker)
          EXPECT_EQ(contributions[at(worker)], (std::uint64_t{1} << workers) - 1)
              << "worker " << worker;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Exchanges, EveryExchange, testing::ValuesIn(variants()),
                         [](const testing::TestParamInfo<Variant>& about) {
                           return name_of(about.param);
                         });

}  // namespace
}  // namespace syncline

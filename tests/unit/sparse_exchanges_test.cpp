// Exchanges for messages that cannot be added on the way: closed forms of bytes and rounds, when
// messages are encoded and decoded, and that no transfer brings what its receiver already has.
#include <algorithm>
#include <bit>
#include <functional>
#include <gtest/gtest.h>
#include <set>

#include "tests/unit/collective.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

int log2_of(int n) {
  return std::countr_zero(std::bit_floor(static_cast<unsigned>(n)));
}

// Executes the phases whose names begin with `beginning`; every rank starts with the piece of its
// own number. A phase must bring exactly the pieces that its rank lacked, and at the end every
// worker has all pieces.
void expect_gathers(const Collective& all, std::string_view beginning,
                    const std::function<std::uint64_t(int)>& bytes_of) {
  std::vector<std::uint64_t> has(all.plans.size());
  for (int rank = 0; rank < all.topology.workers(); ++rank)
    has[at(rank)] = one(rank);
  const std::vector<Actions> plans = actions_of(all.plans);
  std::map<const Action*, std::uint64_t> brought;
  execute(plans, has,
          [&](std::uint64_t& mine, std::uint64_t message, int, int, const Action& phase,
              std::uint64_t) {
            if (!phase.name.starts_with(beginning))
              return;
            for (int piece = 0; piece < all.topology.workers(); ++piece)
              if ((message & ~mine & one(piece)) != 0)
                brought[&phase] += bytes_of(piece);
            mine |= message;
          });
  for (int rank = 0; rank < all.topology.workers(); ++rank) {
    EXPECT_EQ(has[at(rank)], everybody(all)) << "rank " << rank;
    for (const Action& phase : plans[at(rank)])
      if (phase.name.starts_with(beginning) && !phase.receives.empty()) {
        ASSERT_EQ(phase.receives.size(), 1U);
        EXPECT_EQ(phase.receives[0].bytes, brought[&phase]) << "rank " << rank;
      }
  }
}

class AllGather : public testing::TestWithParam<std::string> {
 public:
  GivenSettings given{{"algorithm", GetParam()}};
};

TEST_P(AllGather, BringsAllOtherMessagesToEveryWorker) {
  const auto check = [](const Collective& all) {
    const int n = all.topology.workers();
    std::uint64_t sum = 0;
    for (int worker = 0; worker < n; ++worker)
      sum += all.payload.message_of(worker);
    for (int worker = 0; n > 1 && worker < n; ++worker)
      EXPECT_EQ(received_by(all.plans[at(worker)]), sum - all.payload.message_of(worker));
    EXPECT_EQ(sent_by_all(all), at(n - 1) * sum);
    expect_gathers(all, "", [&](int piece) { return all.payload.message_of(piece); });
  };
  for_each_collective("allgather", check, given);
  for_each_compressed("allgather", check, given);
}

TEST_P(AllGather, TakesEightKNMinusOneBytesForTopK) {
  for (int n = 2; n <= 33; ++n)
    for (const Plan& plan : collective("allgather", flat(n), topk(250, 100000), given).plans)
      EXPECT_EQ(received_by(plan), 8 * 250 * at(n - 1));
}

TEST_P(AllGather, EncodesOneMessageAndDecodesAll) {
  expect_no_work_for_dense("allgather");
  for_each_compressed(
      "allgather",
      [](const Collective& all) {
        const int n = all.topology.workers();
        for (const Actions& plan : actions_of(all.plans)) {
          if (n == 1)
            continue;
          EXPECT_EQ(plan.front().name, "compress");
          EXPECT_EQ(plan.back().name, "decompress");
          EXPECT_EQ(work_of(plan), (Works{{"compress", 1, all.payload.elements},
                                          {"decompress", n, all.payload.elements}}));
        }
      },
      given);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, AllGather, testing::Values("ring", "recursive-doubling"),
                         [](const auto& about) { return about.param.substr(0, 4); });

TEST(AllGatherSteps, AreNMinusOneOfTheRingAndLogarithmicOfDoubling) {
  for (int n = 2; n <= 33; ++n) {
    for (const Plan& plan : collective("allgather", flat(n), topk(10, 1000)).plans)
      EXPECT_EQ(steps_of(plan), n - 1);
    const bool power = std::has_single_bit(static_cast<unsigned>(n));
    int most = 0;
    for (const Plan& plan :
         collective("allgather", flat(n), topk(10, 1000), {{"algorithm", "recursive-doubling"}})
             .plans)
      most = std::max(most, steps_of(plan));
    EXPECT_EQ(most, power ? log2_of(n) : log2_of(n) + 2);
  }
}

TEST(GTopK, SendsOneMessageUpAndOneDownPerWorkerExceptTheRoot) {
  const auto check = [](const Collective& all) {
    int sends = 0;
    for (int rank = 0; rank < all.topology.workers(); ++rank) {
      bool has_merged = false;  // then its list is as long as all of them
      for (const Action& phase : actions_of(all.plans[at(rank)])) {
        EXPECT_LE(phase.sends.size() + phase.receives.size(), 1U);
        const bool up = phase.name == "fold" || phase.name == "reduce";
        has_merged = has_merged || (up && !phase.receives.empty());
        for (const Transfer& transfer : phase.sends) {
          EXPECT_EQ(transfer.bytes, up && !has_merged ? all.payload.message_of(rank) : all.bytes);
          ++sends;
        }
      }
    }
    EXPECT_EQ(sends, 2 * (all.topology.workers() - 1));
  };
  for_each_collective("gtopk", check);
  for_each_compressed("gtopk", check);
}

TEST(GTopK, TakesLogNRoundsEachWay) {
  for (int n = 2; n <= 33; ++n) {
    const Collective all = collective("gtopk", flat(n), topk(10, 1000));
    const int extra = std::has_single_bit(static_cast<unsigned>(n)) ? 0 : 1;
    EXPECT_EQ(steps_of(all.plans[0]), 2 * (log2_of(n) + extra)) << n;
    for (const Plan& plan : all.plans)
      EXPECT_LE(steps_of(plan), 2 * (log2_of(n) + extra));
  }
}

TEST(GTopK, MergesEveryMessageOnceAndSendsTheResultToAll) {
  for (int n = 2; n <= 33; ++n) {
    SCOPED_TRACE(std::to_string(n) + " workers");
    const Collective all = collective("gtopk", flat(n), topk(10, 1000));
    std::vector<std::uint64_t> merged;
    for (int rank = 0; rank < n; ++rank)
      merged.push_back(one(rank));
    execute(actions_of(all.plans), merged,
            [&](std::uint64_t& mine, std::uint64_t message, int from, int to, const Action& phase,
                std::uint64_t) {
              if (phase.name == "fold" || phase.name == "reduce") {
                EXPECT_EQ(mine & message, 0U) << "merged twice";
                EXPECT_LT(to, from);
                mine |= message;
              } else {
                EXPECT_EQ(message, everybody(all));
                mine = message;
              }
            });
    for (const std::uint64_t mine : merged)
      EXPECT_EQ(mine, everybody(all));
  }
}

TEST(GTopK, DecodesEachMergedMessageBeforeTheNextPhase) {
  expect_no_work_for_dense("gtopk");
  for_each_compressed("gtopk", [](const Collective& all) {
    int merges = 0;
    for (const Actions& plan : actions_of(all.plans)) {
      if (plan.empty())
        continue;
      Works expected{{"compress", 1, all.payload.elements}};
      for (std::size_t i = 0; i < plan.size(); ++i)
        if ((plan[i].name == "fold" || plan[i].name == "reduce") && !plan[i].receives.empty()) {
          EXPECT_EQ(plan[i + 1].name, "decompress");
          expected.emplace_back("decompress", 1, all.payload.elements);
          ++merges;
        }
      expected.emplace_back("decompress", 1, all.payload.elements);
      EXPECT_EQ(work_of(plan), expected);
      EXPECT_EQ(plan.front().name, "compress");
      EXPECT_EQ(plan.back().name, "decompress");
    }
    EXPECT_EQ(merges, all.topology.workers() - 1);
  });
}

TEST(HiTopK, SendsWhatThePaperCountsInEachStep) {
  // N nodes of m workers, k pairs: (m-1) d/m words, (N-1) k/m pairs across, (m-1) N k/m inside.
  constexpr std::uint64_t k = 1200;
  for_each_grid([](const Topology& topology, int nodes, int m) {
    const auto u = at(m);
    for (const Plan& plan : collective("hitopk", topology, topk(k, 120000)).plans) {
      EXPECT_EQ(sent_in(plan, "reduce-scatter"), 4 * (u - 1) * (120000 / u));
      EXPECT_EQ(sent_in(plan, "all-gather-across"), at(nodes - 1) * 8 * (k / u));
      EXPECT_EQ(sent_in(plan, "all-gather"), (u - 1) * at(nodes) * 8 * (k / u));
      EXPECT_EQ(steps_of(plan), 2 * (m - 1) + nodes - 1);
    }
  });
}

TEST(HiTopK, BringsEverySelectionToEveryWorkerOnce) {
  const auto check = [](const Collective& all) {
    const int m = static_cast<int>(all.topology.nodes[0].size());
    // A piece is what its worker selects; the reduce-scatter inside a node brings no piece.
    const auto bytes_of = [&](int piece) {
      return share(all.payload.message_of(piece), m, piece % m);
    };
    expect_gathers(all, "all-gather", bytes_of);
    std::uint64_t sent = at(m - 1) * all.payload.dense_bytes * all.topology.nodes.size();
    for (int piece = 0; piece < all.topology.workers(); ++piece)
      sent += at(all.topology.workers() - 1) * bytes_of(piece);
    EXPECT_EQ(sent_by_all(all), sent);
  };
  for_each_compressed("hitopk", check);
}

TEST(HiTopK, EncodesItsShareAndDecodesAllSelections) {
  expect_no_work_for_dense("hitopk");
  for_each_compressed("hitopk", [](const Collective& all) {
    const auto m = at(static_cast<int>(all.topology.nodes[0].size()));
    const std::uint64_t part = up(all.payload.elements, m);
    for (const Actions& plan : actions_of(all.plans)) {
      if (plan.empty())
        continue;
      EXPECT_EQ(work_of(plan),
                (Works{{"compress", 1, part}, {"decompress", all.topology.workers(), part}}));
      EXPECT_EQ(plan[m > 1 ? 1 : 0].name, "compress");
      EXPECT_EQ(plan.back().name, "decompress");
    }
  });
}

TEST(HiTopK, RefusesUnevenNodesAndSaysHowMany) {
  expect_mentions(error_of([] {
                    collective("hitopk", make_topology({4, 2}, 0), topk(1, 100));
                  }),
                  {"exchange = hitopk", "4", "2"});
}

// In these phases any two workers exchange once: each receives its own part of the other's message.
void expect_splits(const Collective& all, std::string_view name) {
  const int n = all.topology.workers();
  for (int rank = 0; rank < n; ++rank) {
    std::set<int> to;
    std::set<int> from;
    for (const Action& phase : actions_of(all.plans[at(rank)])) {
      if (phase.name != name)
        continue;
      ASSERT_TRUE(phase.sends.size() == 1 && phase.receives.size() == 1 && phase.steps == 1);
      const Transfer& sent = phase.sends[0];
      const Transfer& received = phase.receives[0];
      to.insert(sent.peer);
      from.insert(received.peer);
      EXPECT_EQ(sent.bytes, share(all.payload.message_of(rank), n, sent.peer));
      EXPECT_EQ(received.bytes, share(all.payload.message_of(received.peer), n, rank));
    }
    EXPECT_EQ(to.size(), at(n - 1));
    EXPECT_EQ(from.size(), at(n - 1));
  }
}

Payload same_messages(Payload payload) {
  payload.messages.clear();
  return payload;
}

TEST(OkTopK, SendsFourToSixKNMinusOneOverNWords) {
  for (const char* balance : {"off", "on"})
    for (int n = 2; n <= 33; ++n) {
      const std::uint64_t k = 100 * at(n);
      const std::uint64_t words = (balance == std::string("on") ? 6 : 4) * (k / at(n)) * at(n - 1);
      for (const Plan& plan :
           collective("oktopk", flat(n), topk(k, 1000000), {{"balance", balance}}).plans) {
        EXPECT_EQ(sent_by(plan), 4 * words);
        EXPECT_EQ(received_by(plan), 4 * words);
      }
    }
}

TEST(OkTopK, NeverMovesMoreThanSixKWords) {
  for (const char* balance : {"off", "on"})
    for_each_compressed("oktopk",
                        [](const Collective& all) {
                          const std::uint64_t words = 6 * (all.bytes / 8);
                          // Parts are cut to whole bytes, so one may be a byte longer, from each
                          // worker, twice.
                          const std::uint64_t rounding = 2 * at(all.topology.workers());
                          for (const Plan& plan : all.plans) {
                            EXPECT_LE(sent_by(plan), 4 * words);
                            EXPECT_LE(received_by(plan), 4 * words + rounding);
                          }
                        },
                        {{"balance", balance}});
}

TEST(OkTopK, BringsEachRegionToOneWorkerAndItsSumToAll) {
  for (const char* balance : {"off", "on"})
    for_each_topology("oktopk", [&](const Topology& topology) {
      for (Payload payload : compressed_payloads("oktopk", topology.workers())) {
        payload = same_messages(payload);  // exactly k values
        const Collective all = collective("oktopk", topology, payload, {{"balance", balance}});
        expect_splits(all, "split");
        if (balance == std::string("on"))
          expect_splits(all, "balance");
        expect_gathers(all, "all-gather",
                       [&](int region) { return share(all.bytes, topology.workers(), region); });
      }
    });
}

TEST(OkTopK, EncodesAllThenDecodesItsRegionAndTheResult) {
  expect_no_work_for_dense("oktopk");
  for_each_compressed("oktopk", [](const Collective& all) {
    const int n = all.topology.workers();
    const std::uint64_t elements = all.payload.elements;
    for (const Actions& plan : actions_of(all.plans)) {
      if (plan.empty())
        continue;
      EXPECT_EQ(work_of(plan), (Works{{"compress", 1, elements},
                                      {"decompress", n, up(elements, at(n))},
                                      {"decompress", 1, elements}}));
      EXPECT_EQ(plan[at(n)].name, "decompress");  // after n - 1 splits
    }
  });
}

TEST(AllToAll, SendsTwoNMinusOneOverNOfAMessage) {
  const auto check = [](const Collective& all) {
    const int n = all.topology.workers();
    std::uint64_t sum = 0;
    for (int worker = 0; worker < n; ++worker) {
      const std::uint64_t own = all.payload.message_of(worker);
      sum += own - share(own, n, worker) + all.bytes - share(all.bytes, n, (worker + 1) % n);
      if (n > 1 && all.payload.messages.empty() && all.bytes % at(n) == 0) {
        EXPECT_EQ(sent_by(all.plans[at(worker)]), 2 * at(n - 1) * (all.bytes / at(n)));
      }
    }
    EXPECT_EQ(sent_by_all(all), sum);
    expect_splits(all, "all-to-all");
    expect_gathers(all, "all-gather", [&](int part) { return share(all.bytes, n, part); });
    for (const Plan& plan : all.plans)
      EXPECT_EQ(steps_of(plan), 2 * (n - 1));
  };
  for_each_collective("alltoall", check);
  for_each_compressed("alltoall", check);
}

TEST(AllToAll, CompressesTwice) {
  expect_no_work_for_dense("alltoall");
  for_each_compressed("alltoall", [](const Collective& all) {
    const int n = all.topology.workers();
    const std::uint64_t part = up(all.payload.elements, at(n));
    for (const Actions& plan : actions_of(all.plans)) {
      if (plan.empty())
        continue;
      EXPECT_EQ(work_of(plan), (Works{{"compress", 1, all.payload.elements},
                                      {"decompress", n, part},
                                      {"compress", 1, part},
                                      {"decompress", 1, all.payload.elements}}));
      EXPECT_EQ(plan.front().name, "compress");
      EXPECT_EQ(plan[at(n)].name, "decompress");
      EXPECT_EQ(plan[at(n) + 1].name, "compress");
      EXPECT_EQ(plan.back().name, "decompress");
    }
  });
}

}  // namespace
}  // namespace syncline

// Law 29 (tests/laws/README.md): channels cut a message over several rings or trees, each of which
// leaves a node by another network card.
#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <limits>
#include <set>
#include <tuple>

#include "tests/laws/rails.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

const std::vector<Rails> several_cards{
    {},
    {.gpus = {8, 8, 8}},
    {.cards = 2},
    {.gpus = {4, 6}, .cards = 2},
    {.gpus = {6, 6, 6, 6, 6},
     .cards = 3,
     .card_Bps = 1.2e10,
     .card_latency_s = 7e-6,
     .inside_Bps = 1.2e11,
     .inside_latency_s = 1.7e-6},
};

// 1.536 GB, divisible by all shares.
constexpr std::uint64_t values = 384'000'000;
constexpr double bytes = 4.0 * values;

Options one_bucket(const Rails& rails) {
  return {{"platform", rails_platform(rails)},
          {"model", model_of({values})},
          {"overlap", "off"},
          {"bucket-bytes", "all"},
          {"iterations", "2"},
          {"warmup", "0"}};
}

std::string name_of(const Rails& rails) {
  return fmt::format("{} workers on {} nodes, {} cards", rails.workers(), rails.gpus.size(),
                     rails.cards);
}

// From the first start to the last end of the first iteration's all-reduce.
double exchange_s(const Simulated& run) {
  double from_s = run.trace.end_s;
  double to_s = 0;
  for (const Row& row : run.rows("all-reduce"))
    if (row.iteration == 0) {
      from_s = std::min(from_s, row.start_s);
      to_s = std::max(to_s, row.end_s);
    }
  return to_s - from_s;
}

// A node sends 2 (n - 1) / n of the bytes, over all its cards at once.
TEST(Law29, ARingTakesAllCardsOfANode) {
  for (const Rails& rails : several_cards)
    for (const char* fidelity : {"step", "flow"}) {
      Options options = one_bucket(rails);
      options["fidelity"] = fidelity;
      const double n = rails.workers();
      const double carried_s = 2 * (n - 1) / n * bytes / rails.cards / rails.card_Bps;
      const Simulated run = simulated(options);
      EXPECT_GT(exchange_s(run), carried_s * (1 - precise)) << name_of(rails);
      EXPECT_LT(exchange_s(run), carried_s * 1.02) << name_of(rails);
      EXPECT_FALSE(run.below_its_bound()) << name_of(rails);
      // Everything over one card.
      options["channels"] = "1";
      EXPECT_NEAR(exchange_s(simulated(options)), rails.cards * carried_s,
                  0.01 * rails.cards * carried_s)
          << name_of(rails);
    }
}

// 2 (n - 1) / n of the bytes, at the joint rate of all cards that GPUs use. GPU g uses card g *
// cards / gpus, so the number of GPUs may differ by one between cards.
TEST(Law29, ARingTakesAllCardsInEveryMixOfGpusAndCards) {
  for (const int nodes : {2, 3})
    for (int gpus = 1; gpus <= 8; ++gpus) {
      double with_fewer_s = std::numeric_limits<double>::infinity();
      for (int cards = 1; cards <= 8; ++cards) {
        const Rails rails{.gpus = std::vector<int>(index(nodes), gpus), .cards = cards};
        const double n = rails.workers();
        const double seconds = predicted(one_bucket(rails)).exchange_s;
        EXPECT_NEAR(seconds, 2 * (n - 1) / n * bytes / std::min(gpus, cards) / rails.card_Bps,
                    0.02 * seconds)
            << name_of(rails);
        EXPECT_LE(seconds, with_fewer_s * 1.0001) << name_of(rails);
        with_fewer_s = seconds;
      }
    }
}

TEST(Law29, InStepsAndInFlowsMixesTakeWhatTheirCardsCarry) {
  for (const auto& [nodes, gpus, cards] : std::vector<std::tuple<int, int, int>>{{2, 4, 3},
                                                                                 {2, 3, 2},
                                                                                 {2, 6, 4},
                                                                                 {2, 8, 6},
                                                                                 {4, 8, 5},
                                                                                 {3, 4, 3},
                                                                                 {3, 2, 2},
                                                                                 {5, 3, 3},
                                                                                 {2, 8, 7}})
    for (const char* fidelity : {"step", "flow"}) {
      const Rails rails{.gpus = std::vector<int>(index(nodes), gpus), .cards = cards};
      Options options = one_bucket(rails);
      options["iterations"] = "1";
      options["fidelity"] = fidelity;
      const double n = rails.workers();
      const double carried_s = 2 * (n - 1) / n * bytes / cards / rails.card_Bps;
      const Simulated run = simulated(options);
      EXPECT_NEAR(exchange_s(run), carried_s, 0.02 * carried_s) << name_of(rails) << fidelity;
      EXPECT_FALSE(run.below_its_bound()) << name_of(rails);
    }
}

// The narrowest node, uplink, or line between sites limits the rate.
TEST(Law29, ARingTakesWhatTheNarrowestNodeOrWayUpLetsThrough) {
  struct Narrow {
    std::string words;
    int workers;
    double Bps;
  };
  const double card_Bps = 50e9;
  const std::string leaf_of_a_node = "dgx:nodes=4:rails=off:leaf=8:oversubscription=";
  for (const Narrow& narrow : std::vector<Narrow>{
           {"dgx:gpus=4+6:cards=4x400Gbps+3x400Gbps", 10, 3 * card_Bps},
           {"dgx:gpus=2x3+1x8:cards=2x400Gbps+8x400Gbps", 14, 2 * card_Bps},
           {"dgx:gpus=3+8:cards=2x400Gbps+5x400Gbps", 11, 2 * card_Bps},
           {"dgx:nodes=1+1:cards=8x400Gbps+4x200Gbps", 16, 4 * card_Bps / 2},
           {leaf_of_a_node + "1", 32, 8 * card_Bps},
           {leaf_of_a_node + "1.5", 32, 8 * card_Bps / 1.5},
           {leaf_of_a_node + "2", 32, 8 * card_Bps / 2},
           {leaf_of_a_node + "3", 32, 8 * card_Bps / 3},
           {leaf_of_a_node + "4", 32, 8 * card_Bps / 4},
           {"dgx:nodes=4:gpus=4:cards=3x400Gbps:rails=off:leaf=3:oversubscription=2", 16,
            3 * card_Bps / 2},
           {"dgx:nodes=3:gpus=4:cards=4x400Gbps:sites=3:line=1000Gbps:distance=1us", 12, 125e9},
           // Two slots of 63 GB/s fill a card of 100 GB/s; one slot does not.
           {"dgx:nodes=2:gpus=4:cards=1x800Gbps", 8, 100e9},
           {"dgx:nodes=2:gpus=8:cards=4x800Gbps", 16, 400e9}}) {
    Options options = one_bucket({});
    options["platform"] = narrow.words;
    options["iterations"] = "1";
    options["fidelity"] = "step";
    const double n = narrow.workers;
    const double carried_s = 2 * (n - 1) / n * bytes / narrow.Bps;
    EXPECT_NEAR(exchange_s(simulated(options)), carried_s, 0.03 * carried_s) << narrow.words;
    EXPECT_NEAR(predicted(options).exchange_s, carried_s, 0.03 * carried_s) << narrow.words;
  }
}

TEST(Law29, MoreCardsAreNeverSlowerForTreesAndShards) {
  for (const Options& kind :
       {Options{{"exchange", "tree"}}, Options{{"schedule", "fsdp"}, {"bucket-bytes", ""}}})
    for (const int nodes : {2, 3})
      for (const int gpus : {3, 4, 6}) {
        double with_fewer_s = std::numeric_limits<double>::infinity();
        for (int cards = 1; cards <= gpus; ++cards) {
          const Rails rails{.gpus = std::vector<int>(index(nodes), gpus), .cards = cards};
          Options options = one_bucket(rails);
          options["model"] = model_of({values / 10});
          options["iterations"] = "1";
          options["fidelity"] = "step";
          for (const auto& [option, value] : kind)
            options[option] = value;
          const double seconds = simulated(options).iteration_s();
          EXPECT_LE(seconds, with_fewer_s * (1 + precise)) << name_of(rails);
          with_fewer_s = seconds;
        }
      }
}

TEST(Law29, EveryLinkCarriesItsShareOfTheBytes) {
  for (const Rails& rails : several_cards) {
    const double n = rails.workers();
    for (const auto& [name, sent] : predicted(one_bucket(rails)).link_bytes)
      if (name.starts_with("c")) {
        EXPECT_NEAR(sent, 2 * (n - 1) / n * bytes / rails.cards, rails.cards * n)
            << name_of(rails) << ", " << name;
      }
    const Simulated run = simulated(one_bucket(rails));
    std::vector<double> sent(index(rails.workers()));
    for (const Row& row : run.rows("all-reduce"))
      sent[index(row.rank)] += static_cast<double>(row.bytes_sent) / 2;  // number of iterations
    for (const double by_one : sent)
      EXPECT_NEAR(by_one, 2 * (n - 1) / n * bytes, rails.cards * 2) << name_of(rails);
  }
}

// At all sizes: where latencies dominate, where cards dominate, and in between.
TEST(Law29, FlowsTakeAsLongAsStepsWithinThreePerCent) {
  for (const Rails& rails : several_cards)
    for (const std::uint64_t some : {3'000ul, 3'000'000ul, 60'000'000ul, 384'000'000ul}) {
      Options options = one_bucket(rails);
      options["model"] = model_of({some});
      options["fidelity"] = "step";
      const Simulated step = simulated(options);
      options["fidelity"] = "flow";
      const Simulated flow = simulated(options);
      EXPECT_NEAR(exchange_s(flow), exchange_s(step), 0.03 * exchange_s(step))
          << name_of(rails) << ", " << some;
      EXPECT_NEAR(predicted(options).exchange_s, exchange_s(step), 0.03 * exchange_s(step))
          << name_of(rails) << ", " << some;
    }
}

// More than 2,048 messages, so that flows are fused.
TEST(Law29, FusedFlowsTakeAsLongAsSteps) {
  Rails rails{.gpus = std::vector<int>(12, 8)};
  for (const std::uint64_t some : {1'000'000ul, 30'000'000ul, 384'000'000ul})
    for (const double card_Bps : {2.5e10, 1e11}) {
      rails.card_Bps = card_Bps;
      Options options = one_bucket(rails);
      options["model"] = model_of({some});
      options["iterations"] = "1";
      options["fidelity"] = "step";
      const Simulated step = simulated(options);
      options["fidelity"] = "flow";
      const Simulated flow = simulated(options);
      EXPECT_LT(flow.trace.flows, step.trace.flows / 50);
      const bool crowded_inside = 7 * card_Bps > rails.inside_Bps;
      EXPECT_NEAR(exchange_s(flow), exchange_s(step),
                  (crowded_inside ? 0.05 : 0.03) * exchange_s(step))
          << some << ", " << card_Bps;
    }
}

TEST(Law29, OneCardOfANodeIsOneChannel) {
  for (const Rails& rails : {Rails{.gpus = {4, 4}, .cards = 1},
                             Rails{.gpus = {1, 1, 1}, .cards = 1}, Rails{.gpus = {8}, .cards = 8}})
    for (const char* exchange : {"ring", "tree", "allgather"}) {
      Options options = one_bucket(rails);
      options["exchange"] = exchange;
      const std::string chosen = trace_text(simulated(options).trace);
      options["channels"] = "1";
      EXPECT_EQ(chosen, trace_text(simulated(options).trace)) << exchange << ", " << name_of(rails);
    }
  // Nor are there more channels where they would not make the ring faster: each worker's link
  // inside is as narrow.
  Options options = one_bucket({.card_Bps = 5e10, .inside_Bps = 5e10});
  options["platform"] =
      star_platform({.nodes = 2, .workers_per_node = 4, .nic_Bps = 1e10, .bus_Bps = 5e9});
  EXPECT_TRUE(std::ranges::all_of(simulated(options).rows("all-reduce"),
                                  [](const Row& row) { return row.stage == 0; }));
}

// With rails, nothing crosses from one rail to another: cards at the same position share a switch.
TEST(Law29, ChannelsStayOnTheirRail) {
  std::vector<std::pair<Rails, std::string>> cells;
  for (const Rails& rails : {several_cards[0],
                             several_cards[2],
                             several_cards[4],
                             {.gpus = {4, 4}, .cards = 3},
                             {.gpus = {3, 3, 3, 3}, .cards = 2}})
    cells.emplace_back(rails, "ring");
  for (const Rails& rails : {several_cards[0], several_cards[2], {.gpus = {4, 4}, .cards = 3}})
    cells.emplace_back(rails, "tree");
  for (const auto& [rails, exchange] : cells) {
    Options options = one_bucket(rails);
    options["exchange"] = exchange;
    options["model"] = model_of({values / 100});
    const int gpus = rails.gpus.front();
    options["iterations"] = "1";
    options["fidelity"] = "step";
    const Simulated run = simulated(options);
    const auto card_of = [&](int rank) { return rank % gpus * rails.cards / gpus; };
    std::set<int> cards;
    for (const LinkUse& link : run.trace.links)
      if (link.name.starts_with("c") && link.measured_bytes > 0)
        cards.insert(std::stoi(link.name.substr(link.name.find('-') + 1)));
    EXPECT_EQ(static_cast<int>(cards.size()), rails.cards);
    for (const TracedMessage& message : run.trace.messages)
      if (message.from / gpus != message.to / gpus) {
        EXPECT_EQ(card_of(message.from), card_of(message.to)) << name_of(rails);
      }
  }
}

// Buckets in sequence, with compression, error feedback and accumulation, hidden behind backward:
// the bytes are those of one card, and the end comes earlier.
TEST(Law29, BucketsAndMessagesAreTheSameInAnyChannels) {
  int faster = 0;
  const std::vector<Options> kinds{
      {{"exchange", "ring"}},
      {{"exchange", "tree"}},
      {{"exchange", "allgather"}, {"compressor", "topk"}, {"density", "0.1"}},
      {{"exchange", "allgather"},
       {"compressor", "topk"},
       {"accumulation", "3"},
       {"dense-below", "1000"}},
      {{"exchange", "ring"}, {"compressor", "powersgd"}},
      {{"exchange", "ring"}, {"schedule", "local-sgd"}, {"local-steps", "2"}},
  };
  for (const Options& kind : kinds)
    for (const Rails& rails :
         {Rails{.gpus = {4, 4, 4}, .cards = 4, .card_Bps = 1e9, .inside_Bps = 1e11},
          Rails{.gpus = {4, 6}, .cards = 2, .card_Bps = 1e9}}) {
      Options options{{"platform", rails_platform(rails)},
                      {"model", model_of({900, 600'000, 12'000'000, 5'000'000, 300'000})},
                      {"bucket-bytes", "4e6"},
                      {"iterations", "4"},
                      {"fidelity", "step"}};
      options.insert(kind.begin(), kind.end());
      const Simulated several = simulated(options);
      options["channels"] = "1";
      const Simulated one = simulated(options);
      const std::string name = kind.at("exchange") + ", " + name_of(rails);
      EXPECT_NEAR(several.figures.bytes_sent, one.figures.bytes_sent, 1e-4 * one.figures.bytes_sent)
          << name;
      EXPECT_LE(several.iteration_s(), one.iteration_s() * (1 + precise)) << name;
      faster += several.iteration_s() < 0.99 * one.iteration_s() ? 1 : 0;
      EXPECT_FALSE(several.below_its_bound()) << name;
    }
  EXPECT_GE(faster, 6);  // in the others computation hides everything
}

// The dense rival of a compressed scenario is a ring over all cards, whichever exchange the
// scenario uses.
TEST(Law29, TheRivalOfWhatHasNoChannelsGoesOverAllCards) {
  const auto rival_s = [](const char* exchange) {
    Options options = one_bucket(several_cards[0]);
    options["compressor"] = "topk";
    options["exchange"] = exchange;
    return predicted(options).rival_s;
  };
  EXPECT_NEAR(rival_s("gtopk"), rival_s("allgather"), 1e-9);
}

TEST(Law29, WhatIsLearnedDoesNotDependOnChannels) {
  for (const char* exchange : {"ring", "tree"}) {
    Options options = small_data();
    options["platform"] = rails_platform({.gpus = {4, 4}, .cards = 4});
    options["learn"] = "softmax";
    options["exchange"] = exchange;
    options["iterations"] = "20";
    options["evaluate-every"] = "80";
    const Simulated several = simulated(options);
    options["channels"] = "1";
    const Simulated one = simulated(options);
    ASSERT_TRUE(several.trace.learned && one.trace.learned);
    EXPECT_EQ(several.trace.learned->curve.back().loss, one.trace.learned->curve.back().loss)
        << exchange;
  }
}

}  // namespace
}  // namespace syncline

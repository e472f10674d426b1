// Law 29 (tests/laws/README.md): channels cut a message over rings, or trees, that leave a node by
// a network card each.
#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <set>

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

// 1.536 GB, which all shares divide.
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

// From the first that begins to the last that ends, in the first iteration.
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

// A node sends 2 (n - 1) / n of the bytes, over all of its cards at once.
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
      // All of it over one card.
      options["channels"] = "1";
      EXPECT_NEAR(exchange_s(simulated(options)), rails.cards * carried_s,
                  0.01 * rails.cards * carried_s)
          << name_of(rails);
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
      sent[index(row.rank)] += static_cast<double>(row.bytes_sent) / 2;  // iterations
    for (const double by_one : sent)
      EXPECT_NEAR(by_one, 2 * (n - 1) / n * bytes, rails.cards * 2) << name_of(rails);
  }
}

// Whatever the size: where latencies count, where cards do, and in between.
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

// More than 2,048 messages: here flows are fused.
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
  // Nor are there more where a ring is no faster for it: each worker's link is as narrow inside.
  Options options = one_bucket({.card_Bps = 5e10, .inside_Bps = 5e10});
  options["platform"] =
      star_platform({.nodes = 2, .workers_per_node = 4, .nic_Bps = 1e10, .bus_Bps = 5e9});
  EXPECT_TRUE(std::ranges::all_of(simulated(options).rows("all-reduce"),
                                  [](const Row& row) { return row.stage == 0; }));
}

// On rails, nothing crosses from one to another: cards of one place are on one switch.
TEST(Law29, ChannelsStayOnTheirRail) {
  for (const Rails& rails : {several_cards[0], several_cards[2], several_cards[4]}) {
    std::set<std::pair<int, int>> crossings;
    Options options = one_bucket(rails);
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

// Buckets follow each other, with compression, error feedback and accumulation, and hide behind
// backward: as many bytes as over one card, sooner.
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
  EXPECT_GE(faster, 6);  // others hide all of it behind computation
}

// The dense rival of a compressed scenario is a ring over all cards, whatever sends the messages.
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

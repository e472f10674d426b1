// Law 26 (tests/laws/README.md): a second program, which shares no code with the engine, computes
// the same seconds. The reference itself is first checked by arithmetic.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "sim/catalogue/files.h"
#include "tests/reference/exchanges.h"
#include "tests/reference/network.h"
#include "tests/reference/scenarios.h"
#include "tests/unit/parameter_name.h"

namespace syncline::reference {
namespace {

constexpr double nothing_else = std::numeric_limits<double>::infinity();

Way over(std::vector<int> links, double latency_s = 0, double flow_Bps = nothing_else) {
  return {.latency_s = latency_s, .flow_Bps = flow_Bps, .links = std::move(links)};
}

// Machines with a card each; the far ones behind an uplink that limits nothing.
std::string two_sites(int near, int far, double Bps, double latency_s, double far_s) {
  PlatformTree tree;
  const int uplink = tree.link(1e15, far_s);
  for (int i = 0; i < near + far; ++i) {
    std::vector<int> up = {tree.link(Bps, latency_s / 2)};
    if (i >= near)
      up.push_back(uplink);
    tree.host("worker", i, up);
  }
  return file_of(tree.xml(), ".xml");
}

std::string star(int hosts, double Bps, double latency_s) {
  return two_sites(hosts, 0, Bps, latency_s, 0);
}

Words once(const std::string& platform, const std::string& model, const std::string& exchange) {
  return {{"platform", platform}, {"model", model},       {"exchange", exchange},
          {"batch", "1"},         {"iterations", "1"},    {"warmup", "0"},
          {"throughput", "1e6"},  {"bucket-bytes", "all"}};
}

TEST(Reference, FlowsThatMeetShareEquallyAndTakeWhatOthersLeave) {
  // 1 GB and 2 GB on one link of 1 GB/s: both at half the rate until the first ends after 2 s.
  Happenings happenings({1e9, 1e9});
  const Way both = over({0});
  const auto begin = happenings.when_all();
  const auto first = happenings.flow(begin, both, 1e9);
  const auto second = happenings.flow(begin, both, 2e9);
  happenings.run();
  EXPECT_NEAR(happenings.at(first), 2, 1e-9);
  EXPECT_NEAR(happenings.at(second), 3, 1e-9);

  // One of two flows is limited to 0.2 GB/s by itself, so the other gets 0.8, and the flow that it
  // meets on a second link of 1 GB/s gets 0.2 there.
  Happenings limited({1e9, 1e9});
  const Way slow = over({0}, 0, 2e8);
  const Way across = over({0, 1});
  const Way beside = over({1});
  const auto start = limited.when_all();
  const auto of_slow = limited.flow(start, slow, 2e8);
  const auto of_across = limited.flow(start, across, 5e8);
  const auto of_beside = limited.flow(start, beside, 5e8);
  limited.run();
  EXPECT_NEAR(limited.at(of_slow), 1, 1e-9);
  EXPECT_NEAR(limited.at(of_across), 1, 1e-9);  // half of the second link
  EXPECT_NEAR(limited.at(of_beside), 1, 1e-9);
}

TEST(Reference, OneThingAtATimeWhereTurnsAreTaken) {
  Happenings happenings({});
  const auto begin = happenings.when_all();
  const auto later = happenings.turn(happenings.delay(begin, 1), 0, 5);
  const auto first = happenings.turn(begin, 0, 3);
  happenings.run();
  EXPECT_DOUBLE_EQ(happenings.at(first), 3);
  EXPECT_DOUBLE_EQ(happenings.at(later), 8);
}

TEST(Reference, AMessageArrivesAtTheEndOfItsFlowAndLatencyWheneverItIsLookedFor) {
  Happenings happenings({1e9});
  const Way way = over({0}, 0.5);
  const auto begin = happenings.when_all();
  const auto arrived = happenings.delay(happenings.flow(begin, way, 1e9), way.latency_s);
  const auto looked = happenings.when_all({arrived, happenings.delay(begin, 4)});
  happenings.run();
  EXPECT_NEAR(happenings.at(arrived), 1.5, 1e-9);
  EXPECT_NEAR(happenings.at(looked), 4, 1e-9);
}

TEST(Reference, WhatWaitsForEverIsAnError) {
  Happenings happenings({});
  const auto never = happenings.when_all();
  happenings.require(never, never);
  EXPECT_THROW(happenings.run(), std::logic_error);
}

// 2(n-1)(L + b/(nB)).
TEST(Reference, ARingTakesItsFormula) {
  for (const int n : {2, 3, 8})
    EXPECT_NEAR(reference_s(once(star(n, 1e9, 1e-4), model_file({6'000'000}), "ring")),
                1e-6 + 2 * (n - 1) * (1e-4 + 24e6 / n / 1e9), 1e-9)
        << n;
}

// Labels 1 .. 7 form the textbook's tree; in 1 .. 6 the root's right half lacks 7.
TEST(Reference, TreesAreInOrder) {
  for (const auto& [label, parent] :
       std::vector<std::pair<int, int>>{{1, 2}, {2, 4}, {3, 2}, {4, 0}, {5, 6}, {6, 4}, {7, 6}})
    EXPECT_EQ(above(label, 7), parent) << label;
  EXPECT_EQ(above(5, 5), 4);
  EXPECT_EQ(above(5, 6), 6);
}

// Each card sends three quarters of its gradient and of three others' averages, without a pause: in
// the latency before anything arrives it sends gradients only, and after these it still has
// averages to send. So only the last average's latency adds to the time of the bytes.
TEST(Reference, AveragingOnFourFarHostsPaysTheBytesAndOneLatency) {
  const std::string vgg16 = data_root() + "/models/vgg16.csv";
  const double b = 138'357'544 * 4.0;
  EXPECT_NEAR(reference_s(once(star(4, 1.25e9, 0.02), vgg16, "ps")), 1.5 * b / 1.25e9 + 0.02,
              0.001);
}

// Four machines on each of two sites, 10 Gbit/s cards, resnet50 at 250 samples/s: all buckets but
// the last hide behind 0.128 s of computation, and one latency each way shows.
TEST(Reference, AveragingOnTwoSitesHidesAllButItsLatency) {
  for (const auto& [far_s, seconds] :
       std::vector<std::pair<double, double>>{{0.02, 0.210}, {0.05, 0.242}}) {
    const double once_s = reference_s({{"platform", two_sites(4, 4, 1.25e9, 1e-5, far_s)},
                                       {"model", data_root() + "/models/resnet50.csv"},
                                       {"exchange", "ps"},
                                       {"throughput", "250"},
                                       {"iterations", "1"},
                                       {"warmup", "0"}});
    EXPECT_NEAR(once_s, seconds, 0.002) << far_s;
  }
}

// Two units of 4e7 bytes, of which a collective moves half in 40 ms; forward of one takes 1/60 s
// and backward 1/30 s. With zero = 3: both gathers, forward of the second unit, a gather and both
// reduce-scatters; where backward gathers late, also one or both backwards. With zero = 2: forward,
// backward of the second unit, two gathers and two reduce-scatters.
TEST(Reference, ShardsOfTwoWorkersTakeWhatIsWorkedOutByHand) {
  const std::string platform = star(2, 5e8, 0);
  for (const auto& [zero, backward, seconds] :
       std::vector<std::tuple<std::string, std::string, double>>{{"3", "pre", 5 * 0.04 + 1.0 / 60},
                                                                 {"3", "post", 5 * 0.04 + 3.0 / 60},
                                                                 {"3", "none", 5 * 0.04 + 5.0 / 60},
                                                                 {"2", "pre", 4 * 0.04 + 4.0 / 60}})
    EXPECT_NEAR(reference_s({{"platform", platform},
                             {"model", model_file({10'000'000, 10'000'000})},
                             {"schedule", "fsdp"},
                             {"zero", zero},
                             {"backward-prefetch", backward},
                             {"units", "100000"},
                             {"throughput", "100"},
                             {"batch", "10"},
                             {"iterations", "1"},
                             {"warmup", "0"}}),
                seconds, 1e-6)
        << zero << backward;
}

std::string described(const Cell& cell, double error) {
  return cell.what + ", " + cell.platform + ", " + cell.size + ": " + std::to_string(100 * error) +
         " %\n";
}

// On one drawn platform of each kind: all exchanges and all places for servers. The long form draws
// more platforms, and includes those of this repository (CONTRIBUTING.md).
class ReferenceOn : public testing::TestWithParam<std::string> {};

TEST_P(ReferenceOn, StepIsWithinHalfAPercentAndFlowWithinThreeOrWarns) {
  const std::vector<Cell> cells = drawn_cells(drawn_platform(GetParam(), 0));
  const std::vector<Outcome> outcomes = outcomes_of(cells, 2);
  int compared = 0;
  int undecided = 0;
  std::string step;
  std::string flow;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Outcome& outcome = outcomes[i];
    if (outcome.refused)
      continue;
    ASSERT_EQ(outcome.error, "") << described(cells[i], 0);
    if (!outcome.is_decided()) {
      ++undecided;
      continue;
    }
    ++compared;
    if (std::abs(outcome.step_error()) > 0.005)
      step += described(cells[i], outcome.step_error());
    if (std::abs(outcome.flow_error()) > 0.03 && !outcome.warned)
      flow += described(cells[i], outcome.flow_error());
  }
  EXPECT_GE(compared, 60);
  EXPECT_LE(undecided, 12) << "of 24 cells of asp and ssp";
  EXPECT_EQ(step, "");
  EXPECT_EQ(flow, "");
}

INSTANTIATE_TEST_SUITE_P(Reference, ReferenceOn, testing::ValuesIn(kinds_of_platforms()),
                         name_of_parameter);

// Resnet50 on two sites, 0 to 100 ms apart.
std::vector<Cell> over_two_sites(int near, int far, const std::string& what, const Words& words) {
  std::vector<Cell> cells;
  for (const double far_s : {0.0, 0.005, 0.02, 0.05, 0.1}) {
    Words options = words;
    options.insert({{"platform", two_sites(near, far, 1.25e9, 1e-5, far_s)},
                    {"model", data_root() + "/models/resnet50.csv"},
                    {"throughput", "250"},
                    {"warmup", "0"}});
    cells.push_back(
        {what, "two sites", "far latency " + std::to_string(far_s), "resnet50", options});
  }
  return cells;
}

void expect_steps_agree(const std::vector<Cell>& cells, const std::vector<Outcome>& outcomes) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    ASSERT_EQ(outcomes[i].error, "");
    EXPECT_NEAR(outcomes[i].step_error(), 0, 0.005)
        << described(cells[i], outcomes[i].step_error());
  }
}

void expect_flows_agree(const std::vector<Cell>& cells, const std::vector<Outcome>& outcomes) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    ASSERT_EQ(outcomes[i].error, "");
    EXPECT_NEAR(outcomes[i].flow_error(), 0, 0.03) << described(cells[i], outcomes[i].flow_error());
  }
}

TEST(Reference, RingsOfSixtyFourAgree) {
  std::vector<Cell> cells = long_rings();
  std::erase_if(cells, [](const Cell& cell) { return cell.size != "1 MB"; });
  ASSERT_EQ(cells.size(), 4u);
  const std::vector<Outcome> outcomes = outcomes_of(cells, 2);
  expect_steps_agree(cells, outcomes);
  expect_flows_agree(cells, outcomes);
}

// Two sites of four machines, at any distance.
TEST(Reference, StepPaysLatenciesAsOftenAsTheyArePaid) {
  for (const char* exchange : {"ps", "tree", "alltoall"}) {
    const std::vector<Cell> cells =
        over_two_sites(4, 4, exchange, {{"exchange", exchange}, {"iterations", "2"}});
    const std::vector<Outcome> outcomes = outcomes_of(cells, 2);
    expect_steps_agree(cells, outcomes);
    for (std::size_t i = 1; i < cells.size(); ++i)
      EXPECT_GE(outcomes[i].step_s, outcomes[i - 1].step_s) << cells[i].platform;
  }
}

// 100 MB in six buckets to a server 0.1 s away, and back, once: bytes / bandwidth, one latency each
// way, and the last partition's way back. If each bucket waited for the one before to arrive, five
// latencies would be added.
TEST(Reference, PushesOfSixBucketsPayALatencyOnce) {
  const double Bps = 1.25e8;
  const double far_s = 0.1;
  PlatformTree tree;
  tree.host("worker", 0, {tree.link(Bps, far_s)});
  tree.host("server", -1, {tree.link(1e15, 0)});
  const std::vector<std::uint64_t> layers = {4'000'000, 5'000'000, 4'000'000,
                                             4'000'000, 4'000'000, 4'000'000};
  for (const char* schedule : {"asp", "ssp"}) {
    const std::vector<Cell> cells = {{schedule,
                                      "two machines",
                                      "far",
                                      "100 MB in 6",
                                      {{"platform", file_of(tree.xml(), ".xml")},
                                       {"model", model_file(layers)},
                                       {"schedule", schedule},
                                       {"servers", "1"},
                                       {"batch", "1"},
                                       {"throughput", "1e6"},
                                       {"bucket-bytes", "16000000"},
                                       {"iterations", "1"},
                                       {"warmup", "0"}}}};
    const Outcome outcome = outcomes_of(cells, 2).front();
    ASSERT_EQ(outcome.error, "");
    const double last_s = 4e6 / Bps;  // at most
    for (const double seconds : {outcome.reference_s, outcome.step_s, outcome.flow_s}) {
      EXPECT_GT(seconds, 100e6 / Bps + 2 * far_s) << schedule;
      EXPECT_LT(seconds, 100e6 / Bps + 2 * far_s + last_s + 0.001) << schedule;
    }
  }
}

// Several buckets, at any distance between the sites. Workers begin one after another.
TEST(Reference, PushesPayLatenciesAsOftenAsTheyArePaid) {
  for (const char* schedule : {"asp", "ssp"}) {
    const std::vector<Cell> cells =
        over_two_sites(3, 2, schedule, {{"schedule", schedule}, {"iterations", "4"}});
    const std::vector<Outcome> outcomes = outcomes_of(cells, 2);
    expect_steps_agree(cells, outcomes);
    expect_flows_agree(cells, outcomes);
  }
}

}  // namespace
}  // namespace syncline::reference

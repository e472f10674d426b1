// Law 41 (tests/laws/README.md), of time: workers that average their parameters with neighbours',
// `gossip` and `ad-psgd`: seconds and bytes by arithmetic, who delays whom, and what is refused.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/schedule.h"
#include "sim/worker.h"
#include "tests/laws/neighbours.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

// Each worker has a card of its own, over which its copies leave together.
TEST(Law41, AnIterationOfGossipIsTheLongerOfComputationAndItsCopies) {
  constexpr double overhead_s = 1e-3;
  for (const int workers : {1, 2, 3, 4, 5, 8})
    for (const std::string graph : {"ring", "exponential", "complete"})
      for (const std::uint64_t parameters : {400'000ULL, 40'000'000ULL})
        for (const bool overlap : {true, false}) {
          const int copies = workers == 1             ? 0
                             : graph == "exponential" ? 1
                             : graph == "complete"    ? workers - 1
                                                      : std::min(workers - 1, 2);
          const double bytes_s = copies * 4.0 * static_cast<double>(parameters) / law41::nic_Bps;
          const double moves_s = copies == 0 ? 0 : law41::route_s + bytes_s + overhead_s;
          const double expected_s =
              overlap ? std::max(law41::solo_s, moves_s) : law41::solo_s + moves_s;
          const Options options = law41::exact({.nodes = workers}, parameters,
                                               {{"graph", graph},
                                                {"step-overhead", std::to_string(overhead_s)},
                                                {"overlap", overlap ? "on" : "off"}});
          EXPECT_NEAR(simulated(options).iteration_s(), expected_s, early_end_s)
              << workers << " " << graph << " " << parameters << (overlap ? "" : " no overlap");
        }
}

// On a ring over nodes of two, each worker sends one copy over its own bus only, and one over the
// bus and the node's card, which both workers of a node share.
TEST(Law41, WorkersOfANodeShareItsCard) {
  constexpr std::uint64_t parameters = 20'000'000;
  for (const int nodes : {2, 3, 5}) {
    const Options options = law41::exact({.nodes = nodes, .workers_per_node = 2}, parameters);
    EXPECT_NEAR(simulated(options).iteration_s(),
                law41::route_s + 2 * 4.0 * parameters / law41::nic_Bps, early_end_s)
        << nodes;
  }
  const Options inside = law41::exact({.nodes = 1, .workers_per_node = 4}, 400'000'000);
  EXPECT_NEAR(simulated(inside).iteration_s(), 2 * 4.0 * 400e6 / law41::bus_Bps, early_end_s);
}

TEST(Law41, AnAnswerOfAdPsgdTakesTwoCopiesWhileItsWorkerComputes) {
  for (const int workers : {1, 2})
    for (const std::uint64_t parameters : {400'000ULL, 40'000'000ULL})
      for (const bool overlap : {true, false}) {
        const double moves_s =
            2 * (law41::route_s + 4.0 * static_cast<double>(parameters) / law41::nic_Bps);
        const double active_s = workers == 1 ? law41::solo_s
                                : overlap    ? std::max(law41::solo_s, moves_s)
                                             : law41::solo_s + moves_s;
        const Options options =
            law41::exact({.nodes = workers}, parameters,
                         {{"schedule", "ad-psgd"}, {"overlap", overlap ? "on" : "off"}});
        const Simulated run = simulated(options);
        std::map<int, std::vector<double>> stepped_s;
        for (const Row& row : run.rows("step"))
          stepped_s[row.rank].push_back(row.end_s);
        for (const auto& [worker, times] : stepped_s)
          EXPECT_NEAR(times[5] - times[4], worker == 0 ? active_s : law41::solo_s, early_end_s)
              << workers << " " << parameters << " worker " << worker;
        const double rate = workers == 1 ? 1 / active_s : 1 / active_s + 1 / law41::solo_s;
        EXPECT_NEAR(run.figures.throughput_samples_per_s / (10 * rate), 1, 0.02);
      }
}

// Bytes on every link, in the mean of an iteration, and the messages of a run.
TEST(Law41, LinksCarryThePredictedBytes) {
  const Star star{.nodes = 3, .workers_per_node = 2};
  for (const char* graph : {"ring", "exponential", "complete"})
    for (const char* precision : {"fp32", "fp16"}) {
      const Options options = law41::exact(
          star, 1'000'000,
          {{"graph", graph}, {"precision", precision}, {"iterations", "12"}, {"warmup", "3"}});
      const Simulated run = simulated(options);
      const Predicted said = predicted(options);
      ASSERT_FALSE(said.link_bytes.empty());
      for (const LinkUse& link : run.trace.links)
        EXPECT_NEAR(link.bytes / 15, said.link_bytes.at(link.name), 1e-6 * link.bytes) << graph;
      EXPECT_NEAR(estimated_flows(options), static_cast<double>(run.trace.flows), 1e-6) << graph;
      EXPECT_GE(run.iteration_s(), said.bound_s * (1 - 1e-9)) << graph;
    }
}

// Partners are drawn, so their bytes are those of the mean only in a long run.
TEST(Law41, LinksOfAdPsgdCarryThePredictedBytesInTheMean) {
  const Options options = law41::exact({.nodes = 3, .workers_per_node = 2}, 1'000'000,
                                       {{"schedule", "ad-psgd"}, {"iterations", "400"}});
  const Simulated run = simulated(options);
  const Predicted said = predicted(options);
  double all = 0;
  for (const LinkUse& link : run.trace.links) {
    EXPECT_NEAR(link.bytes / 402 / said.link_bytes.at(link.name), 1, 0.1) << link.name;
    all += link.name.find("bus_UP") != std::string::npos ? link.bytes : 0;
  }
  EXPECT_DOUBLE_EQ(all, 402 * 3 * 2 * 4e6);  // three active workers, there and back
  EXPECT_NEAR(estimated_flows(options), static_cast<double>(run.trace.flows), 1e-6);
}

// Law 37 and 38 for neighbours: whatever the hosts, nodes and jitter.
TEST(Law41, ArithmeticTakesWhatFlowsTake) {
  for (const char* graph : {"ring", "exponential", "complete"})
    for (const char* jitter : {"0", "0.2"})
      for (const char* overlap : {"on", "off"})
        for (const char* workers : {"1", "5", "6"}) {
          Options options = law41::exact({.nodes = 3,
                                          .workers_per_node = 2,
                                          .nic_Bps = 2e8,
                                          .bus_latency_s = 1e-6,
                                          .slow_speed = 0.6},
                                         2'000'000,
                                         {{"graph", graph},
                                          {"jitter", jitter},
                                          {"overlap", overlap},
                                          {"workers", workers},
                                          {"warmup", "12"},
                                          {"accumulation", "2"},
                                          {"optimizer-overhead", "1e-3"},
                                          {"step-overhead", "1e-4"}});
          const Simulated flows = simulated(options);
          options["fidelity"] = "analytic";
          const Simulated analytic = simulated(options);
          const std::string about = std::string(graph) + " " + jitter + " " + overlap + workers;
          EXPECT_NEAR(analytic.iteration_s(), flows.iteration_s(), 1e-6) << about;
          EXPECT_NEAR(analytic.trace.end_s, flows.trace.end_s, 1e-6) << about;
          EXPECT_NEAR(analytic.figures.exposed_communication_s,
                      flows.figures.exposed_communication_s, 1e-6)
              << about;
          EXPECT_NEAR(analytic.figures.bytes_sent, flows.figures.bytes_sent,
                      1e-9 * flows.figures.bytes_sent)
              << about;
          EXPECT_EQ(analytic.trace.rows.size(), flows.trace.rows.size()) << about;
          const Predicted said = predicted(options);
          // The window has no whole rounds; with a slow worker leads still grow in this run.
          const double apart = graph == std::string("exponential") ? 1e-2
                               : workers == std::string("6")       ? 5e-3
                                                                   : 1e-6;
          const double long_run_s =
              overlap == std::string("on") ? said.iteration_s : said.without_overlap_s;
          if (jitter == std::string("0")) {
            EXPECT_NEAR(long_run_s / flows.iteration_s(), 1, apart) << about;
          }
          EXPECT_LE(said.iteration_s, said.without_overlap_s + precise) << about;
        }
}

// Steps that a worker has taken until this time.
int steps_until(const Simulated& run, int worker, double time_s) {
  int count = 0;
  for (const Row& row : run.rows("step"))
    count += row.rank == worker && row.end_s <= time_s + early_end_s ? 1 : 0;
  return count;
}

// A slow worker delays those d places away from their d-th iteration on: their lead is d.
TEST(Law41, GossipDelaysNeighboursFirstAndOthersLater) {
  const Options options =
      law41::exact({.nodes = 9, .slow_speed = 0.25, .slow_worker = 0}, 1000,
                   {{"iterations", "12"}, {"warmup", "6"}, {"bucket-bytes", "all"}});
  const Simulated run = simulated(options);
  EXPECT_NEAR(run.iteration_s(), law41::solo_s / 0.25, 1e-3);
  for (const int slow_steps : {1, 2, 3, 6})
    for (int worker = 0; worker < 9; ++worker) {
      const int away = std::min(worker, 9 - worker);
      const int free_steps = static_cast<int>(std::round(slow_steps / 0.25));
      // Just before its next step.
      EXPECT_EQ(steps_until(run, worker, (slow_steps + 0.99) * law41::solo_s / 0.25),
                worker == 0 ? slow_steps : std::min(free_steps + 3, slow_steps + away))
          << worker << " after " << slow_steps;
    }
}

TEST(Law41, AdPsgdWaitsForNoSlowWorker) {
  for (const int slow : {0, 1, 4, 5}) {
    const Options options =
        law41::exact({.nodes = 6, .slow_speed = 0.25, .slow_worker = slow}, 1000,
                     {{"schedule", "ad-psgd"}, {"iterations", "60"}, {"bucket-bytes", "all"}});
    const Simulated run = simulated(options);
    EXPECT_NEAR(run.figures.throughput_samples_per_s, 100 * (5 + 0.25), 1.5) << slow;
    Options gossip = options;
    gossip["schedule"] = "gossip";
    EXPECT_NEAR(simulated(gossip).figures.throughput_samples_per_s, 100 * 6 * 0.25, 5) << slow;
  }
}

TEST(Law41, PartnersAreDrawnByTheSeedAndEquallyOften) {
  Options options =
      law41::exact({.nodes = 4}, 1000, {{"schedule", "ad-psgd"}, {"iterations", "400"}});
  std::set<std::vector<int>> drawn;
  for (const char* seed : {"1", "2", "3"}) {
    options["seed"] = seed;
    std::vector<int> partners;
    std::map<int, int> count;
    for (const Row& row : simulated(options).rows("mix"))
      if (row.rank == 0) {
        partners.push_back(row.worker);
        ++count[row.worker];
      }
    EXPECT_EQ(count.size(), 2u);
    EXPECT_NEAR(count[1], 201, 40) << seed;
    EXPECT_NEAR(count[3], 201, 40) << seed;
    drawn.insert(partners);
  }
  EXPECT_EQ(drawn.size(), 3u);
}

std::string error_of(const Options& options) {
  try {
    simulated(options);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "it runs";
}

TEST(Law41, OptionsThatDoNotFitAreRefusedInOneLine) {
  const Options gossip = law41::exact({.nodes = 3}, 1000);
  const auto with = [](Options options, const std::string& name, const std::string& value) {
    options[name] = value;
    return error_of(options);
  };
  const auto expect = [](const std::string& error, const std::string& part) {
    EXPECT_NE(error.find(part), std::string::npos) << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  };
  expect(with(gossip, "compressor", "topk"),
         "schedule gossip sends parameters, not gradients; allowed is none");
  expect(with(gossip, "exchange", "tree"), "schedule gossip allows only");
  expect(with(gossip, "staleness", "2"), "staleness means nothing to");
  expect(with(gossip, "channels", "2"), "channels = 2 means nothing to schedule gossip");
  expect(with(gossip, "overlap-slowdown", "0.1"), "means nothing to schedule gossip");
  expect(with(law41::exact({.nodes = 4}, 1000, {{"schedule", "ad-psgd"}}), "fidelity", "analytic"),
         "fidelity = analytic: schedule ad-psgd draws");
  expect(with(gossip, "graph", "torus"), "allowed are");
  expect(with(gossip, "schedule", "ad-psgd"), "workers = 3: ");
}

std::string fault_of(const Schedule& schedule, const char* fidelity = "flow") {
  try {
    simulated_by(schedule, law41::exact({.nodes = 3}, 1'000'000, {{"fidelity", fidelity}}));
  } catch (const std::exception& error) {
    return error.what();
  }
  return "it ends";
}

std::vector<Neighbour> next_one(const Settings&, int worker, int workers) {
  return {{(worker + 1) % workers, 1}};
}

TEST(Deadlock, OfACopyThatNobodySendsNamesWhoWaitsForWhom) {
  const Schedule schedule{.name = "deaf", .neighbours = next_one, .worker = [](Worker& worker) {
                            for (int i = 0; worker.next_iteration(); ++i) {
                              if (i < 2 || worker.rank() != 1)
                                worker.send_parameters((worker.rank() + 1) % worker.workers());
                              worker.forward();
                              for (const Bucket& bucket : worker.buckets())
                                worker.backward(bucket);
                              worker.receive_parameters((worker.rank() + 2) % worker.workers());
                              worker.mix(0.5);
                              worker.step_alone();
                            }
                          }};
  EXPECT_EQ(fault_of(schedule),
            "the schedule has a deadlock: worker 0 in iteration 3 waits in receive_parameters() "
            "for worker 2; worker 1 in iteration 4 waits in receive_parameters() for worker 0; "
            "worker 2 in iteration 2 waits in receive_parameters() for worker 1");
  EXPECT_EQ(fault_of(schedule, "analytic"),
            "the schedule has a deadlock: worker 0 in iteration 3 waits in receive_parameters() "
            "for worker 2; waiting workers: 3");
}

TEST(Deadlock, ACopyToNobodyIsNamed) {
  const Schedule schedule{.name = "lost", .neighbours = next_one, .worker = [](Worker& worker) {
                            while (worker.next_iteration())
                              worker.send_parameters(worker.rank() + 1);
                          }};
  for (const char* fidelity : {"flow", "analytic"})
    EXPECT_EQ(fault_of(schedule, fidelity),
              "schedule lost: worker 2 has worker 3 of 3 as a neighbour");
}

TEST(Deadlock, OfEveryRoundIsFoundByArithmeticToo) {
  const Schedule schedule{.name = "proud", .neighbours = next_one, .worker = [](Worker& worker) {
                            while (worker.next_iteration()) {
                              worker.forward();
                              for (const Bucket& bucket : worker.buckets())
                                worker.backward(bucket);
                              worker.receive_parameters((worker.rank() + 2) % worker.workers());
                              worker.send_parameters((worker.rank() + 1) % worker.workers());
                              worker.mix(0.5);
                              worker.step_alone();
                            }
                          }};
  EXPECT_EQ(fault_of(schedule, "analytic"),
            "the schedule has a deadlock: worker 0 in iteration 0 waits in receive_parameters() "
            "for worker 2; waiting workers: 3");
}

TEST(NoNeighbours, OfAScheduleThatDeclaresNoneGetParameters) {
  const Schedule schedule{.name = "shy", .worker = [](Worker& worker) {
                            while (worker.next_iteration())
                              worker.send_parameters(0);
                          }};
  for (const char* fidelity : {"flow", "analytic"})
    EXPECT_NE(fault_of(schedule, fidelity).find("neighbours"), std::string::npos);
}

}  // namespace
}  // namespace syncline

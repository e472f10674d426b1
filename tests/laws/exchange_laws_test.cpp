// Laws 1, 2, 3, 7 and 8 (tests/laws/README.md): how long an exchange takes, and that `flow` and
// `step` agree.
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <tuple>

#include "sim/plan.h"
#include "sim/platform/platform.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

// Seconds of one exchange of the whole model, without overlap and by default in one bucket, until
// the last worker has the sum (in `fidelity = step` some have it slightly earlier).
double exchange_s(Options options) {
  options["overlap"] = "off";
  options.emplace("bucket-bytes", "all");
  options["iterations"] = "1";
  options["warmup"] = "0";
  return simulated(options).trace.end_s - 0.1;
}

TEST(Law1, OneTransferTakesLatencyPlusBytesOverBandwidth) {
  // With asp, the push from the only worker to the only server crosses two cards. A push row ends
  // when the message has left, one latency before it arrives.
  const Simulated run = simulated({{"platform", star_platform({.nodes = 1, .servers = 1})},
                                   {"model", model_of({25'000'000})},
                                   {"schedule", "asp"},
                                   {"servers", "1"}});
  ASSERT_FALSE(run.rows("push").empty());
  for (const Row& row : run.rows("push"))
    EXPECT_NEAR(row.end_s - row.start_s, 1e8 / 1e9, precise);
  ASSERT_EQ(run.rows("receive").size(), run.rows("push").size() * 25);  // partitions
  for (const Row& row : run.rows("receive"))
    EXPECT_NEAR(row.end_s - row.start_s, 2e-5 + static_cast<double>(row.bytes_received) / 1e9,
                precise);
  for (const Row& row : run.rows("pull"))
    EXPECT_NEAR(row.end_s - row.start_s, 2e-5 + 1e8 / 1e9, precise);
}

// Two rows of SimGrid's tables (smpi/lat-factor, smpi/bw-factor): messages from 64 KiB, and from
// 257 bytes.
TEST(Law1, InfiniBandHasFactorsByTheSizeOfAMessage) {
  if (simgrid_version() != "3.32")
    GTEST_SKIP() << "refused with SimGrid " << simgrid_version();
  struct Expected {
    std::uint64_t parameters;
    double latency_factor, bandwidth_factor;
  };
  for (const auto& [parameters, latency_factor, bandwidth_factor] :
       {Expected{25'000'000, 11.6436, 0.940694}, {100, 1.95341, 0.338112}}) {
    const Simulated run = simulated({{"platform", star_platform({.nodes = 1, .servers = 1})},
                                     {"model", model_of({parameters})},
                                     {"schedule", "asp"},
                                     {"servers", "1"},
                                     {"partition-bytes", "1e9"},
                                     {"network", "ib"},
                                     {"fidelity", "step"}});
    const double bytes = 4 * static_cast<double>(parameters);
    ASSERT_FALSE(run.rows("push").empty());
    for (const Row& row : run.rows("push"))
      EXPECT_NEAR(row.end_s - row.start_s, latency_factor * 2e-5 + bytes / (bandwidth_factor * 1e9),
                  precise);
  }
}

TEST(Law2, RingAllReduceTakesTwoTimesNMinusOneSteps) {
  const double bytes = 4 * 2520.0 * 1000;  // divisible by every n below
  for (const int n : {2, 3, 5, 8, 9})
    for (const char* fidelity : {"step", "flow"}) {
      const double seconds = exchange_s({{"platform", star_platform({.nodes = n})},
                                         {"model", model_of({2'520'000})},
                                         {"fidelity", fidelity}});
      EXPECT_NEAR(seconds, 2 * (n - 1) * (2e-5 + bytes / n / 1e9), 1e-9) << n << fidelity;
    }
}

// A FATPIPE link limits each flow by itself, however many there are; closed forms model this like
// the simulation.
TEST(Law2, ClosedFormsKnowLinksThatLimitEachFlowByItself) {
  for (const int workers_per_node : {1, 3})
    for (const char* exchange : {"ring", "halving-doubling", "hierarchical", "alltoall"}) {
      const Options options{{"platform", star_platform({.nodes = 4,
                                                        .workers_per_node = workers_per_node,
                                                        .nic_Bps = 2e8,
                                                        .fatpipe_nics = true})},
                            {"model", model_of({120'000, 2'400'000})},
                            {"bucket-bytes", "all"},
                            {"exchange", exchange},
                            {"fidelity", "step"}};
      const double seconds = exchange_s(options);
      EXPECT_NEAR(predicted(options).exchange_s, seconds, 0.01 * seconds)
          << exchange << ", " << workers_per_node << " per node";
    }
}

TEST(Law2, ReduceScatterAndAllGatherTakeNMinusOneSteps) {
  const int n = 6;
  const Simulated run = simulated(
      {{"platform", star_platform({.nodes = 1, .workers_per_node = n, .bus_latency_s = 1e-6})},
       {"model", model_of({2'520'000})},
       {"exchange", "hierarchical"},
       {"fidelity", "step"}});
  for (const char* verb : {"reduce-scatter", "all-gather"}) {
    ASSERT_FALSE(run.rows(verb).empty());
    for (const Row& row : run.rows(verb))
      EXPECT_NEAR(row.end_s - row.start_s, (n - 1) * (2e-6 + 4 * 2'520'000 / n / 1e10), precise);
  }
}

TEST(Law2, HalvingDoublingTakesTwoLogNRounds) {
  const double bytes = 4 * 1'048'576.0;
  const double seconds = exchange_s({{"platform", star_platform({.nodes = 8})},
                                     {"model", model_of({1'048'576})},
                                     {"exchange", "halving-doubling"}});
  EXPECT_NEAR(seconds, 2 * 3 * 2e-5 + 2 * (7.0 / 8) * bytes / 1e9, precise);
}

TEST(Law2, StepOverheadIsPaidOncePerStep) {
  const Options options{{"platform", star_platform({.nodes = 4})},
                        {"model", model_of({1'000'000})}};
  for (const char* fidelity : {"step", "flow"}) {
    Options with = options;
    with["fidelity"] = fidelity;
    const double without_s = exchange_s(with);
    with["step-overhead"] = "1e-3";
    EXPECT_NEAR(exchange_s(with) - without_s, 6e-3, precise) << fidelity;
  }
}

TEST(Law3, WithoutCommunicationBspTakesTheSlowestWorkersCompute) {
  const Simulated run = simulated(
      {{"platform",
        star_platform({.nodes = 4, .nic_Bps = 1e18, .nic_latency_s = 0, .slow_speed = 0.25})},
       {"model", model_of({1000, 1000, 1000})}});
  EXPECT_NEAR(run.iteration_s(), 0.4, precise);
  EXPECT_NEAR(run.figures.waiting_s, 0.75 * 0.3, 1e-6);  // three of four wait for 0.3 s
}

TEST(Law3, EveryExchangeSeparatesWaitingFromTransferring) {
  // Two workers, one at half the speed, one link: in every exchange the fast one waits for the slow
  // one, and then each moves one buffer. Servers receive the fast one's push, half a buffer,
  // earlier.
  for (const std::string& name : exchanges_for("none"))
    for (const char* fidelity : {"flow", "step"}) {
      const Simulated run = simulated(
          {{"platform", star_platform({.nodes = 2, .nic_latency_s = 0, .slow_speed = 0.5})},
           {"model", model_of({25'000'000})},
           {"overlap", "off"},
           {"bucket-bytes", "all"},
           {"exchange", name},
           {"fidelity", fidelity}});
      const double early_s = name == "ps" ? 0.5 * 1e8 / 1e9 : 0;
      EXPECT_NEAR(run.figures.exposed_communication_s, 1e8 / 1e9 + early_s / 2, 2e-3)
          << name << fidelity;
      EXPECT_NEAR(run.figures.waiting_s, (0.2 - 0.1 - early_s) / 2, 2e-3) << name << fidelity;
    }
}

TEST(Law3, OneWorkerDoesNotCommunicate) {
  for (const std::string& name : exchanges_for("none")) {
    const Simulated run = simulated({{"platform", star_platform({.nodes = 1})},
                                     {"model", model_of({1000, 1000})},
                                     {"exchange", name}});
    EXPECT_NEAR(run.iteration_s(), 0.1, precise) << name;
    EXPECT_EQ(run.trace.flows, 0u) << name;
    EXPECT_EQ(run.figures.bytes_sent, 0) << name;
  }
}

TEST(Law7, TwiceTheBandwidthAndHalfTheLatencyHalvesCommunication) {
  for (const std::string& name : exchanges_for("none")) {
    const Star star{.nodes = 4, .workers_per_node = 2, .bus_latency_s = 1e-6};
    Star faster = star;
    faster.nic_Bps *= 2;
    faster.bus_Bps *= 2;
    faster.nic_latency_s /= 2;
    faster.bus_latency_s /= 2;
    const std::string model = model_of({3'000'000, 2'000'000});
    const double slow_s =
        exchange_s({{"platform", star_platform(star)}, {"model", model}, {"exchange", name}});
    const double fast_s =
        exchange_s({{"platform", star_platform(faster)}, {"model", model}, {"exchange", name}});
    EXPECT_GT(slow_s, 0) << name;
    EXPECT_NEAR(fast_s, slow_s / 2, slow_s * 1e-6) << name;
  }
}

// Several workers per node, the last node slow; returns the options of a whole run.
Options on_a_network(double nic_Bps, double nic_latency_s, const std::string& schedule) {
  static const std::string model = model_of({3'000'000, 2'000'000, 500});
  return {{"platform", star_platform({.nodes = 3,
                                      .workers_per_node = 2,
                                      .nic_Bps = nic_Bps,
                                      .nic_latency_s = nic_latency_s,
                                      .bus_Bps = 10 * nic_Bps,
                                      .slow_speed = 0.7})},
          {"model", model},
          {"schedule", schedule}};
}

TEST(Law8, MoreBandwidthIsNeverSlowerAndMoreLatencyNeverFaster) {
  for (const char* exchange : {"ring", "ps", "tree", "hierarchical"}) {
    const auto end_s = [&](double nic_Bps, double latency_s) {
      Options options = on_a_network(nic_Bps, latency_s, "bsp");
      options["exchange"] = exchange;
      return simulated(options).trace.end_s;
    };
    double before_s = std::numeric_limits<double>::infinity();
    for (const double nic_Bps : {1e7, 1e8, 3e8, 1e9, 1e11}) {
      const double seconds = end_s(nic_Bps, 1e-5);
      EXPECT_LE(seconds, before_s * (1 + 1e-9)) << exchange << " at " << nic_Bps;
      before_s = seconds;
    }
    before_s = 0;
    for (const double latency_s : {0.0, 1e-6, 1e-4, 1e-2}) {
      const double seconds = end_s(1e9, latency_s);
      EXPECT_GE(seconds, before_s * (1 - 1e-9)) << exchange << " at " << latency_s;
      before_s = seconds;
    }
  }
}

TEST(Law8, HoldsForThoseWhoDoNotWaitWithinTheirIntervals) {
  // On another network messages meet in another order, so a run of any length is one random sample.
  for (const char* schedule : {"asp", "ssp", "inhad"})
    for (const char* jitter : {"0", "0.2"}) {
      const auto of = [&](double nic_Bps, double latency_s) {
        Options options = on_a_network(nic_Bps, latency_s, schedule);
        options["iterations"] = "auto";
        options["interval"] = "0.05";
        options["max-iterations"] = "100";
        options["jitter"] = jitter;
        return simulated(options).figures;
      };
      const auto expect_no_slower = [&](const Figures& better, const Figures& worse,
                                        const std::string& than) {
        const double interval =
            better.throughput_interval.value_or(0) + worse.throughput_interval.value_or(0);
        EXPECT_GE(better.throughput_samples_per_s,
                  worse.throughput_samples_per_s * (1 - interval - 1e-9))
            << schedule << ", jitter " << jitter << ", " << than;
      };
      Figures before = of(1e7, 1e-5);
      for (const double nic_Bps : {1e8, 1e11}) {
        const Figures figures = of(nic_Bps, 1e-5);
        expect_no_slower(figures, before, "more than at " + std::to_string(nic_Bps));
        before = figures;
      }
      before = of(1e9, 0);
      for (const double latency_s : {1e-4, 1e-2}) {
        const Figures figures = of(1e9, latency_s);
        expect_no_slower(before, figures, "less than " + std::to_string(latency_s));
        before = figures;
      }
    }
}

TEST(Law8, ASlowerHostIsNeverFaster) {
  const std::string model = model_of({300'000, 200'000});
  for (const char* schedule : {"bsp", "asp", "ssp", "inhad"}) {
    double before_s = 0;
    for (const double speed : {1.0, 0.9, 0.5, 0.1}) {
      const double seconds =
          simulated({{"platform", star_platform({.nodes = 3, .slow_speed = speed})},
                     {"model", model},
                     {"schedule", schedule}})
              .trace.end_s;
      EXPECT_GE(seconds, before_s * (1 - 1e-9)) << schedule << " at " << speed;
      before_s = seconds;
    }
  }
}

void expect_near(Options options, const std::string& about) {
  options["fidelity"] = "step";
  const double step_s = exchange_s(options);
  options["fidelity"] = "flow";
  const double flow_s = exchange_s(options);
  EXPECT_NEAR(flow_s / step_s, 1, 0.03) << about;
}

// Messages of 100 KB, 10 MB and 1 GB among 8, 32 and 128 workers.
void expect_flow_near_step(const std::string& exchange, const Options& more,
                           std::uint64_t value_bytes, std::uint64_t most_bytes = 1'000'000'000) {
  for (const int nodes : {2, 8, 32})
    for (const std::uint64_t bytes : {100'000ul, 10'000'000ul, 1'000'000'000ul}) {
      if (bytes > most_bytes)
        continue;
      Options options{
          {"platform",
           star_platform({.nodes = nodes, .workers_per_node = 4, .bus_latency_s = 3e-6})},
          {"model", model_of({bytes / value_bytes})},
          {"exchange", exchange},
          {"step-overhead", "1e-5"}};
      options.insert(more.begin(), more.end());
      expect_near(options, exchange + " " + std::to_string(nodes * 4) + " workers, " +
                               std::to_string(bytes) + " bytes");
    }
}

// The README's figure: how far `flow` is from `step`.
TEST(Fidelity, FlowIsWithinThreePercentOfStep) {
  for (const char* exchange : {"ring", "hierarchical", "alltoall"})
    expect_flow_near_step(exchange, {}, 4);
  expect_flow_near_step("tree", {}, 4, 10'000'000);  // a gigabyte has thousands of rounds in `step`
  // Sends every value with its index.
  for (const char* balance : {"off", "on"})
    expect_flow_near_step("oktopk",
                          {{"compressor", "topk"},
                           {"density", "1"},
                           {"device", cost_table(0, 0)},
                           {"balance", balance}},
                          8);
}

// Servers on the nodes and on their own hosts, one worker per node and several, one bucket and
// several.
TEST(Fidelity, FlowIsWithinThreePercentOfStepThroughServers) {
  for (const auto& [nodes, workers, servers] : std::vector<std::tuple<int, int, int>>{{8, 1, 0},
                                                                                      {8, 4, 0},
                                                                                      {32, 4, 0},
                                                                                      {128, 1, 0},
                                                                                      {8, 4, 8},
                                                                                      {16, 2, 4},
                                                                                      {12, 1, 24},
                                                                                      {6, 3, 4}})
    for (const std::uint64_t bytes : {100'000ul, 10'000'000ul, 200'000'000ul})
      for (const int buckets : {1, 4}) {
        if (nodes >= 32 && (bytes > 10'000'000 || buckets > 1))
          continue;  // `step` has a million messages there
        // At most twelve partitions per bucket, or `step` would take minutes.
        const double partition = std::max(4096000.0, static_cast<double>(bytes) / buckets / 12);
        expect_near({{"platform", star_platform({.nodes = nodes,
                                                 .workers_per_node = workers,
                                                 .bus_latency_s = 3e-6,
                                                 .servers = servers})},
                     {"model", model_of(std::vector<std::uint64_t>(
                                   static_cast<std::size_t>(buckets),
                                   bytes / 4 / static_cast<unsigned>(buckets)))},
                     {"bucket-bytes", "0"},
                     {"exchange", "ps"},
                     {"servers", std::to_string(servers)},
                     {"partition-bytes", std::to_string(partition)},
                     {"step-overhead", "1e-5"}},
                    std::to_string(nodes) + " nodes of " + std::to_string(workers) + ", " +
                        std::to_string(servers) + " servers, " + std::to_string(bytes) +
                        " bytes in " + std::to_string(buckets));
      }
}

}  // namespace
}  // namespace syncline

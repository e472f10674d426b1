// Laws of `easgd` (Zhang, Choromanska, LeCun 2015): when workers exchange with the centre, how long
// that takes, and that an exchange moves as much out of a worker as into the centre.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include "tests/laws/replay.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

constexpr double bytes = 4 * 10'000'000;
constexpr double nic_Bps = 1e9;
constexpr double latency_s = 2 * 1e-3;  // of a route: two cards
constexpr double question = 64;         // bytes

// Every worker and server has a card of its own; one iteration of a worker takes 0.1 s.
Options exchanging(int workers, int servers, const Options& more = {}) {
  Options options{{"platform", star_platform({.nodes = workers,
                                              .nic_Bps = nic_Bps,
                                              .nic_latency_s = latency_s / 2,
                                              .servers = servers})},
                  {"model", model_of({10'000'000})},
                  {"schedule", "easgd"},
                  {"servers", std::to_string(servers)},
                  {"partition-bytes", "1e9"},
                  {"host-memory-bandwidth", "1e15"},
                  {"iterations", "24"}};
  for (const auto& [key, value] : more)
    options[key] = value;
  return options;
}

std::map<int, std::vector<double>> begins_of(const Simulated& run) {
  std::map<int, std::vector<double>> begins;
  for (const Row& row : run.rows("forward"))
    begins[row.rank].push_back(row.start_s);
  return begins;
}

// From a question to the last answer: two latencies, the question, and the centre.
double exchange_s(int servers, double Bps) {
  return 2 * latency_s + (servers * question + bytes) / Bps;
}

TEST(Easgd, KIterationsTakeTheirComputationAndOneExchange) {
  for (const char* fidelity : {"flow", "step"})
    for (const int servers : {1, 3})
      for (const int period : {1, 4, 8}) {
        const Simulated run = simulated(
            exchanging(1, servers, {{"period", std::to_string(period)}, {"fidelity", fidelity}}));
        const std::vector<double> begins = begins_of(run).at(0);
        ASSERT_GE(begins.size(), 24u);
        // The difference leaves while the worker computes for 0.1 s or more.
        for (std::size_t i = 1; i < begins.size(); ++i)
          EXPECT_NEAR(begins[i] - begins[i - 1],
                      0.1 + (i % index(period) == 0 ? exchange_s(servers, nic_Bps) : 0), 1e-6)
              << fidelity << ", " << servers << " servers, period " << period << " in " << i;
        EXPECT_NEAR(run.figures.throughput_samples_per_s,
                    10 / (0.1 + exchange_s(servers, nic_Bps) / period), 0.02 * 100)
            << fidelity << servers << period;
      }
}

// On a slow network a worker waits until its last difference has left and arrived. Questions leave
// after it.
TEST(Easgd, AnExchangeWaitsForTheDifferenceBefore) {
  constexpr double slow_Bps = 1e8;  // 0.4 s for the parameters
  for (const int period : {1, 2, 8})
    for (const char* overlap : {"on", "off"}) {
      const Simulated run = simulated(exchanging(
          1, 1,
          {{"platform",
            star_platform(
                {.nodes = 1, .nic_Bps = slow_Bps, .nic_latency_s = latency_s / 2, .servers = 1})},
           {"period", std::to_string(period)},
           {"overlap", overlap}}));
      const std::vector<double> begins = begins_of(run).at(0);
      const double sending_s = bytes / slow_Bps;
      const double computing_s = period * 0.1;
      const double round_s = exchange_s(1, slow_Bps) + (overlap == std::string("off")
                                                            ? computing_s + sending_s + latency_s
                                                            : std::max(computing_s, sending_s));
      for (std::size_t i = index(period); i < begins.size(); i += index(period))
        EXPECT_NEAR(begins[i] - begins[i - index(period)], round_s, 1e-6) << period << overlap;
    }
}

TEST(Easgd, BytesAreThoseOfAnExchangeInAPeriod) {
  for (const char* servers : {"0", "3"})
    for (const int period : {1, 4, 12}) {
      Options options = exchanging(4, 3,
                                   {{"period", std::to_string(period)},
                                    {"servers", servers},
                                    {"jitter", "0.2"},
                                    {"partition-bytes", "4e6"},
                                    {"warmup", "0"},
                                    {"bucket-bytes", "0"},
                                    {"model", model_of({3'000'000, 10, 2'000'001})}});
      const Simulated run = simulated(options);
      const Predicted expected = predicted(options);
      ASSERT_FALSE(expected.link_bytes.empty());
      for (const auto& [name, of_iteration] : expected.link_bytes) {
        const auto link = std::ranges::find(run.trace.links, name, &LinkUse::name);
        ASSERT_NE(link, run.trace.links.end()) << name;
        EXPECT_NEAR(link->bytes, 24 * of_iteration, 1e-6 * link->bytes) << name << " " << period;
      }
      EXPECT_EQ(run.rows("forward").size(), 4 * 24u);
      // Three buckets of one partition or two, an exchange in each period.
      EXPECT_EQ(run.rows("ask").size(), index(4 * 24 / period * 3)) << period;
      EXPECT_EQ(run.rows("push").size(), index(4 * 24 / period * 3)) << period;
    }
}

// Where links and servers are not full, a worker goes on as if it were alone.
TEST(Easgd, NobodyWaitsForAnotherWorker) {
  std::map<double, std::vector<double>> steps;
  for (const double slow_speed : {1.0, 0.3}) {
    const Simulated run =
        simulated(exchanging(3, 2,
                             {{"platform", star_platform({.nodes = 3,
                                                          .nic_Bps = nic_Bps,
                                                          .servers = 2,
                                                          .slow_speed = slow_speed,
                                                          .server_nic_Bps = 1e12})},
                              {"period", "3"},
                              {"jitter", "0.2"}}));
    const std::vector<double> begins = begins_of(run).at(0);
    for (std::size_t i = 1; i < begins.size() && i < 24; ++i)
      steps[slow_speed].push_back(begins[i] - begins[i - 1]);
  }
  ASSERT_EQ(steps[1.0].size(), 23u);
  for (std::size_t i = 0; i < 23; ++i)
    EXPECT_NEAR(steps[1.0][i], steps[0.3][i], 1e-6) << i;
}

Options lesson(const std::string& period, const std::string& moving_rate,
               const Options& more = {}) {
  Options options{
      {"platform",
       star_platform(
           {.nodes = 3, .workers_per_node = 2, .nic_Bps = 4e5, .servers = 2, .slow_speed = 0.6})},
      {"learn", "mlp"},
      {"hidden", "7"},
      {"schedule", "easgd"},
      {"servers", "2"},
      {"period", period},
      {"moving-rate", moving_rate},
      {"momentum", "0.5"},
      {"weight-decay", "0.01"},
      {"bucket-bytes", "0"},
      {"partition-bytes", "50"},
      {"jitter", "0.4"},
      {"iterations", "24"}};
  options.merge(small_data());
  for (const auto& [key, value] : more)
    options[key] = value;
  return options;
}

TEST(Easgd, ASecondProgramGetsTheSameParametersOfEveryWorkerAndTheCentre) {
  for (const char* problem : {"mlp", "least-squares"})
    for (const char* servers : {"0", "2"})
      for (const char* moving_rate : {"auto", "0.3", "1"})
        for (const char* period : {"1", "4"}) {
          const std::string what = std::string(problem) + servers + moving_rate + period;
          Options options = lesson(period, moving_rate, {{"learn", problem}, {"servers", servers}});
          if (problem != std::string("mlp")) {
            options.erase("hidden");
            options["learning-rate"] = "0.01";
          }
          const Simulated run = simulated(options);
          const Replayed again = replayed(options, run.trace);
          const Learned& learned = *run.trace.learned;
          ASSERT_EQ(learned.own_parameters_at_end.size(), 6u) << what;
          ASSERT_EQ(again.own.size(), 6u) << what;
          double apart = 0;
          for (std::size_t i = 0; i < again.initial.size(); ++i) {
            EXPECT_NEAR(learned.parameters_at_end[i], again.parameters[i], 1e-6) << what;
            // What all workers and the centre have gained is what workers' own steps have made.
            double gained = learned.parameters_at_end[i] - 7.0 * again.initial[i];
            for (std::size_t worker = 0; worker < 6; ++worker) {
              const float own = learned.own_parameters_at_end[worker][i];
              EXPECT_NEAR(own, again.own[worker][i], 1e-6) << what << " worker " << worker;
              gained += own;
              apart = std::max<double>(apart, std::abs(own - learned.parameters_at_end[i]));
            }
            EXPECT_NEAR(gained, again.moved[i], 1e-4) << what << ": conserved";
          }
          EXPECT_GT(apart, 1e-3) << what;
        }
}

TEST(Easgd, ASecondProgramGetsTheSameParametersInOtherSizesAndAtOtherRates) {
  for (const Options& more : {Options{{"precision", "fp16"}}, Options{{"bucket-bytes", "all"}},
                              Options{{"model", model_of({9'000, 20, 30'000, 11, 7'000, 40'000})},
                                      {"partition-bytes", "9000"},
                                      {"fidelity", "step"}},
                              Options{{"learning-rate-schedule", "cosine"},
                                      {"learning-rate-warm-up", "0.7"},
                                      {"clip-norm", "0.3"},
                                      {"skew", "0.5"}}}) {
    const Options options = lesson("3", "auto", more);
    const Simulated run = simulated(options);
    const Replayed again = replayed(options, run.trace);
    EXPECT_EQ(run.trace.learned->parameters_at_end, again.parameters) << more.begin()->first;
    EXPECT_EQ(run.trace.learned->own_parameters_at_end, again.own) << more.begin()->first;
    EXPECT_NE(again.parameters, again.initial);
  }
}

TEST(Easgd, WithoutMovingTheCentreStaysAndWorkersLearnByThemselves) {
  std::vector<std::vector<std::vector<float>>> own;
  for (const double slow_speed : {1.0, 0.4}) {
    const Simulated run =
        simulated(lesson("2", "0",
                         {{"platform", star_platform({.nodes = 3,
                                                      .workers_per_node = 2,
                                                      .nic_Bps = 4e5,
                                                      .servers = 2,
                                                      .slow_speed = slow_speed})}}));
    const std::vector<CurvePoint>& curve = run.trace.learned->curve;
    EXPECT_EQ(curve.front().loss, curve.back().loss);
    // 24 iterations of six workers with four samples; a run may end with more of the fast ones.
    EXPECT_GE(curve.back().samples, 24 * 6 * 4);
    own.push_back(run.trace.learned->own_parameters_at_end);
  }
  EXPECT_EQ(own[0], own[1]) << "nothing of the others reaches a worker";
  EXPECT_NE(own[0][0], own[0][1]);
}

// One worker that moves all the way changes places with the centre in each exchange.
TEST(Easgd, TheCentreLearns) {
  for (const char* moving_rate : {"auto", "0.5", "1"})
    for (const char* workers : {"1", "6"}) {
      const Simulated run = simulated(lesson("2", moving_rate, {{"workers", workers}}));
      const std::vector<CurvePoint>& curve = run.trace.learned->curve;
      EXPECT_LT(curve.back().loss, 0.9 * curve.front().loss) << moving_rate << " " << workers;
      EXPECT_EQ(run.trace.learned->effective_staleness, 0);
    }
}

}  // namespace
}  // namespace syncline

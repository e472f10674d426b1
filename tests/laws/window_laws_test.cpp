// Law 16 (tests/laws/README.md): throughput is that of a long run, whatever the default length.
#include <cmath>
#include <gtest/gtest.h>

#include "tests/laws/simulated.h"

namespace syncline {
namespace {

// Mean-value analysis of a closed network (Reiser and Lavenberg 1980): `customers` customers think
// and then visit each station once. Returns their visits per second.
double visits_per_s(int customers, double think_s, const std::vector<double>& stations_s) {
  std::vector<double> queue(stations_s.size());
  double rate = 0;
  for (int n = 1; n <= customers; ++n) {
    double cycle_s = think_s;
    std::vector<double> response_s;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      response_s.push_back(stations_s[i] * (1 + queue[i]));
      cycle_s += response_s.back();
    }
    rate = n / cycle_s;
    for (std::size_t i = 0; i < queue.size(); ++i)
      queue[i] = rate * response_s[i];
  }
  return rate;
}

// Eight workers and a server that sends and receives 100 MB in 0.1 s.
Options asp_at_one_server(double compute_s) {
  constexpr int batch = 32;
  return {{"platform", star_platform({.nodes = 8,
                                      .nic_Bps = 1e11,
                                      .nic_latency_s = 1e-6,
                                      .servers = 1,
                                      .server_nic_Bps = 1e9})},
          {"model", model_of({25'000'000})},
          {"schedule", "asp"},
          {"iterations", "auto"},
          {"servers", "1"},
          {"bucket-bytes", "all"},
          {"partition-bytes", "1e9"},  // a push ends before its pull begins: two stations
          {"host-memory-bandwidth", "1e15"},
          {"overlap", "off"},
          {"batch", std::to_string(batch)},
          {"throughput", std::to_string(batch / compute_s)}};
}

TEST(Law16, AspByDefaultIsTheClosedNetworkOfItsStations) {
  for (const double compute_s : {1.0, 0.2}) {
    const double expected = 32 * visits_per_s(8, compute_s, {0.1, 0.1});
    EXPECT_NEAR(expected, compute_s == 1 ? 185.7 : 274.3, 0.05);
    for (const char* jitter : {"0.05", "0.2", "0.5"}) {
      Options options = asp_at_one_server(compute_s);
      options["jitter"] = jitter;
      double mean = 0;  // over as many runs as a cell has
      for (const char* seed : {"1", "2", "3", "4", "5"}) {
        options["seed"] = seed;
        mean += simulated(options).figures.throughput_samples_per_s / 5;
      }
      EXPECT_NEAR(mean, expected, 0.03 * expected) << compute_s << " s, jitter " << jitter;
    }
    // Without jitter, workers that began at different times meet less often. How often depends on
    // the rounding of times, so that only the interval's upper end is above the closed form.
    const Figures even = simulated(asp_at_one_server(compute_s)).figures;
    EXPECT_GT(even.throughput_samples_per_s * (1 + even.throughput_interval.value_or(0)), expected)
        << compute_s;
  }
}

TEST(Law16, PartitionsMakeAspFasterThanAClosedNetworkOfWholeBuckets) {
  // By default 25 partitions are answered one by one, so that a pull overlaps its push. A worker
  // alone then takes 26/25 of one transfer for the pair, and the card stays within its capacity.
  for (const double compute_s : {1.0, 0.2})
    for (const char* jitter : {"0", "0.05", "0.2", "0.5"}) {
      Options options = asp_at_one_server(compute_s);
      options.erase("partition-bytes");
      options["jitter"] = jitter;
      const double throughput = simulated(options).figures.throughput_samples_per_s;
      EXPECT_GT(throughput, 32 * visits_per_s(8, compute_s, {0.1, 0.1})) << jitter;
      EXPECT_LT(throughput, 1.001 * 32 * std::min(8 / (compute_s + 0.104), 1 / 0.1)) << jitter;
    }
}

// Even with a wide interval allowed. The decision to stop may not have seen the last round.
TEST(Law16, ARunGoesOnUntilItsHalvesAgree) {
  for (int seed = 1; seed <= 12; ++seed) {
    const Options options{{"platform", star_platform({.nodes = 4})},
                          {"model", model_of({100'000})},
                          {"schedule", "bsp"},
                          {"iterations", "auto"},
                          {"interval", "0.05"},
                          {"jitter", "0.2"},
                          {"max-iterations", "1000"},
                          {"seed", std::to_string(seed)}};
    EXPECT_LE(std::abs(simulated(options).figures.halves_differ), 0.04) << seed;
  }
}

// One of eight hosts has half the speed of the others.
Options ssp_with_a_slow_host(const std::string& staleness) {
  Options options = asp_at_one_server(0.2);
  options["platform"] = star_platform(
      {.nodes = 8, .nic_Bps = 1e11, .nic_latency_s = 1e-6, .servers = 1, .slow_speed = 0.5});
  options["schedule"] = "ssp";
  options["staleness"] = staleness;
  return options;
}

TEST(Law16, SspByDefaultWaitsForTheSlowHostAsInALongRun) {
  for (const char* staleness : {"1", "3", "10", "30"})
    for (const char* jitter : {"0", "0.1"}) {
      Options options = ssp_with_a_slow_host(staleness);
      options["jitter"] = jitter;
      const double by_default = simulated(options).figures.throughput_samples_per_s;
      options["iterations"] = "500";
      options["warmup"] = "70";  // until the lead is as long as allowed
      const double long_run = simulated(options).figures.throughput_samples_per_s;
      EXPECT_NEAR(by_default, long_run, 0.02 * long_run) << staleness << ", jitter " << jitter;
      EXPECT_NEAR(long_run, 8 * 80, 0.05 * 8 * 80);  // eight times the slow host's rate
    }
}

TEST(Law16, ARunNoticesASlowSpellInItsSecondHalf) {
  // From 2 s on, the last worker has a third of its speed.
  for (const char* schedule : {"bsp", "asp", "ssp"}) {
    Options options{
        {"platform", star_platform({.nodes = 4, .servers = 1, .profile = "0 1\n2 0.3"})},
        {"model", model_of({100'000})},
        {"schedule", schedule},
        {"iterations", "30"}};
    const Figures figures = simulated(options).figures;
    EXPECT_LT(figures.halves_differ, -0.03) << schedule;
    ASSERT_FALSE(figures.warnings.empty()) << schedule;
    EXPECT_NE(figures.warnings[0].text.find("not steady"), std::string::npos)
        << figures.warnings[0].text;
    // A run that ends before the slow spell warns that there is one.
    options["iterations"] = "10";
    const Figures early = simulated(options).figures;
    ASSERT_FALSE(early.warnings.empty()) << schedule;
    EXPECT_NE(early.warnings[0].text.find("profiles need 2 s"), std::string::npos)
        << early.warnings[0].text;
    // By default the run goes on until it has seen enough of the slow spell.
    options["iterations"] = "auto";
    EXPECT_GT(simulated(options).figures.window_to_s, 2) << schedule;
  }
}

TEST(Law16, ARunOfWholePeriodsIsAsFastAsTheAverageHost) {
  // The last of eight hosts works at full speed for 1.2 s of every 2 s and then at 0.4: 76 % on
  // average. Schedules that wait for it run at that pace; the others lose only its own part.
  static const std::string platform =
      star_platform({.nodes = 8, .nic_Bps = 1e12, .profile = "0 1\n1.2 0.4\nPERIODICITY 2"});
  for (const char* schedule : {"bsp", "ssp", "asp"})
    for (const char* jitter : {"0", "0.005"}) {
      Options options{{"platform", platform},
                      {"model", model_of({1000})},
                      {"schedule", schedule},
                      {"iterations", "auto"},
                      {"jitter", jitter}};
      const Figures figures = simulated(options).figures;
      const double expected = 100 * (schedule == std::string("asp") ? 7.76 : 8 * 0.76);
      EXPECT_NEAR(figures.throughput_samples_per_s / expected, 1, 0.015)
          << schedule << ", jitter " << jitter;
      EXPECT_LE(figures.throughput_interval.value_or(1), 0.01) << schedule << ", jitter " << jitter;
      for (const Warning& warning : figures.warnings)
        EXPECT_EQ(warning.text.find("max-iterations"), std::string::npos)
            << schedule << warning.text;
    }
}

TEST(Law16, TheDefaultLengthOfEqualIterationsIsTen) {
  const Simulated run = simulated({{"platform", star_platform({.nodes = 4})},
                                   {"model", model_of({100'000})},
                                   {"iterations", "auto"}});
  EXPECT_EQ(run.rows("step").size(), 4u * 11);
  EXPECT_EQ(run.figures.window_iterations, 10);
  EXPECT_NEAR(run.figures.halves_differ, 0, 1e-9);
}

TEST(Law16, ByDefaultTheIntervalIsMetOrTheReportSaysNot) {
  for (const char* schedule : {"bsp", "asp", "ssp", "inhad"}) {
    Options options{{"platform", star_platform({.nodes = 4, .workers_per_node = 2})},
                    {"model", model_of({1'000'000, 2'000'000})},
                    {"schedule", schedule},
                    {"iterations", "auto"},
                    {"jitter", "0.1"}};
    const Figures met = simulated(options).figures;
    ASSERT_TRUE(met.throughput_interval) << schedule;
    EXPECT_GE(met.window_iterations, 20) << schedule;
    options["max-iterations"] = "20";
    options["interval"] = "0.0001";
    const Figures cut = simulated(options).figures;
    EXPECT_NE(cut.warnings, met.warnings) << schedule;
    EXPECT_NE(cut.warnings.back().text.find("max-iterations"), std::string::npos) << schedule;
  }
}

TEST(Law16, WorkersThatWaitForNobodyBeginAtDifferentTimes) {
  for (const char* schedule : {"asp", "ssp", "inhad", "bsp"}) {
    const Simulated run =
        simulated({{"platform", star_platform({.nodes = 3, .workers_per_node = 2})},
                   {"model", model_of({1'000'000})},
                   {"schedule", schedule}});
    std::vector<double> starts(6);
    for (const Row& row : run.rows("forward"))
      if (row.iteration == 0)
        starts[static_cast<std::size_t>(row.rank)] = row.start_s;
    // An iteration computes for 0.1 s; the two workers of a node begin half of that apart.
    for (std::size_t rank = 0; rank < 6; ++rank) {
      const double begins = (static_cast<double>(rank % 2) + static_cast<double>(rank / 2) / 3) / 2;
      EXPECT_NEAR(starts[rank], schedule == std::string("bsp") ? 0 : 0.1 * begins, 1e-9)
          << schedule;
    }
  }
}

std::vector<double> starts_of(const Options& options) {
  std::vector<double> starts;
  for (const Row& row : simulated(options).rows("forward"))
    if (row.iteration == 0)
      starts.push_back(row.start_s);
  return starts;
}

// An iteration of a worker alone: 0.1 s of computation and, if a worker waits for answers, 4 MB at
// 1 GB/s and twice a latency of 20 us.
TEST(Law16, WorkersThatMeetByChanceBeginWhereALongRunLeavesThem) {
  Options options{{"platform", star_platform({.nodes = 6})},
                  {"model", model_of({1'000'000})},
                  {"iterations", "100"},
                  {"jitter", "0.1"}};
  for (const auto& [schedule, iteration_s] : {std::pair("asp", 0.10404), {"inhad", 0.10404}}) {
    options["schedule"] = schedule;
    options["threshold"] = *schedule == 'i' ? "1" : "";
    double sum = 0;
    for (const char* seed : {"1", "2", "3", "4", "5", "6", "7", "8"}) {
      options["seed"] = seed;
      for (const double start_s : starts_of(options)) {
        EXPECT_LT(start_s, 2 * iteration_s) << schedule;
        sum += start_s / 48;
      }
    }
    EXPECT_NEAR(sum, iteration_s, 0.25 * iteration_s) << schedule;  // four deviations of the mean
  }
  // Workers that wait for the gradients of several others are brought together: they begin evenly
  // spread.
  options["threshold"] = "";
  for (const char* schedule : {"inhad", "backup"}) {
    options["schedule"] = schedule;
    std::vector<double> starts = starts_of(options);
    std::ranges::sort(starts);
    for (std::size_t i = 0; i < starts.size(); ++i)
      EXPECT_NEAR(starts[i], 0.1 * static_cast<double>(i) / 6, 1e-12) << schedule;
  }
  // A worker that is three iterations ahead waits, so one begins at once and the others up to 3.5
  // iterations later.
  options["schedule"] = "ssp";
  options["staleness"] = "3";
  for (const auto& [iterations, most] : {std::pair("100", 3.5), {"8", 2.0}}) {
    options["iterations"] = iterations;
    const std::vector<double> starts = starts_of(options);
    EXPECT_EQ(std::ranges::count(starts, 0.0), 1) << iterations;
    EXPECT_LT(std::ranges::max(starts), most * 0.1) << iterations;
    EXPECT_GT(std::ranges::max(starts), most * 0.05) << iterations;
  }
}

// What is learned by a time counts from the first moment. Once, workers of ssp began up to
// staleness + 0.5 iterations late, and those of easgd up to a period.
TEST(Law16, WorkersThatLearnBeginWithinTwoIterations) {
  for (const auto& [schedule, option, value] : {std::tuple("ssp", "staleness", "40"),
                                                {"dssp", "staleness", "9"},
                                                {"easgd", "period", "50"}})
    for (const char* jitter : {"0", "0.1"}) {
      const std::vector<double> starts = starts_of({{"platform", star_platform({.nodes = 6})},
                                                    {"model", model_of({1'000'000})},
                                                    {"schedule", schedule},
                                                    {option, value},
                                                    {"learn", "least-squares"},
                                                    {"learning-rate", "0.01"},
                                                    {"iterations", "200"},
                                                    {"jitter", jitter}});
      EXPECT_LE(std::ranges::max(starts), 0.21) << schedule << jitter;
      EXPECT_GT(std::ranges::max(starts), 0.02) << schedule << jitter;
    }
}

// Eight workers that begin evenly spread never meet at a server that takes 0.1 s of each second: 8
// * 32 / 1.2 = 213 samples/s. In a long run they do: 185.7. Once, a window of 20 iterations gave
// the former.
TEST(Law16, AShortWindowIsNotFasterThanTheLongRun) {
  const double expected = 32 * visits_per_s(8, 1, {0.1, 0.1});
  double mean = 0;
  constexpr int seeds = 20;
  for (int seed = 1; seed <= seeds; ++seed) {
    Options options = asp_at_one_server(1);
    options["jitter"] = "0.05";
    options["iterations"] = "20";
    options["seed"] = std::to_string(seed);
    mean += simulated(options).figures.throughput_samples_per_s / seeds;
  }
  EXPECT_NEAR(mean, expected, 0.03 * expected);
}

// Once, each cell was compared with what its own window had seen: three denominators in one column.
TEST(Law27, WhatWorkersDoAloneIsOneNumberPerPlatformAndWorkers) {
  // One host has 0.6 of the speed; the last works at full speed for 0.3 s of every 0.5 s and then
  // at half: 0.8.
  const std::string platform = star_platform({.nodes = 4,
                                              .nic_Bps = 2e8,
                                              .slow_speed = 0.6,
                                              .slow_worker = 0,
                                              .profile = "0 1\n0.3 0.5\nPERIODICITY 0.5"});
  for (const char* schedule : {"bsp", "asp", "ssp", "inhad", "local-sgd"})
    for (const auto& [jitter, seed] : {std::pair("0", "1"), {"0.2", "2"}, {"0.2", "3"}}) {
      const Figures figures = simulated({{"platform", platform},
                                         {"model", model_of({3'000'000})},
                                         {"schedule", schedule},
                                         {"jitter", jitter},
                                         {"seed", seed}})
                                  .figures;
      EXPECT_LT(figures.scaling_efficiency, 1) << schedule;
      EXPECT_NEAR(figures.throughput_samples_per_s / figures.scaling_efficiency,
                  100 * (0.6 + 1 + 1 + 0.8), 1e-9)
          << schedule << jitter << seed;
    }
}

// A shard's step is shorter, servers may take the step, and recomputation is no training: once,
// each case had its own denominator.
TEST(Law27, WhatWorkersDoAloneIsOneNumberForEverySchedule) {
  for (const char* schedule : {"bsp", "fsdp", "asp", "inhad", "local-sgd"})
    for (const char* recompute : {"off", "full"})
      for (const char* accumulation : {"1", "3"}) {
        Options options{{"platform", star_platform({.nodes = 4, .nic_Bps = 5e7})},
                        {"model", model_of({3'000'000})},
                        {"schedule", schedule},
                        {"optimizer", "adam"},
                        {"memory-bandwidth", "8e9"},
                        {"recompute", recompute},
                        {"accumulation", accumulation}};
        const Figures figures = simulated(options).figures;
        const int steps = accumulation[0] - '0';
        const double step_s = 7 * 4 * 3e6 / 8e9;  // of the 0.1 s that 10 samples take
        EXPECT_NEAR(figures.throughput_samples_per_s / figures.scaling_efficiency,
                    4 * 10 * steps / (steps * (0.1 - step_s) + step_s), 1e-9)
            << schedule << recompute << accumulation;
        EXPECT_LT(figures.scaling_efficiency, 1) << schedule;
      }
}

// Once, efficiency was capped at 100 %, so four shards' steps and two looked alike.
TEST(Law27, WhoStepsLessThanAloneIsMoreEfficientThanAlone) {
  for (const int workers : {1, 2, 4}) {
    const Figures figures =
        simulated({{"platform",
                    star_platform({.nodes = workers, .nic_Bps = 1e18, .nic_latency_s = 1e-9})},
                   {"model", model_of({3'000'000})},
                   {"schedule", "fsdp"},
                   {"optimizer", "adam"},
                   {"memory-bandwidth", "8e9"}})
            .figures;
    const double step_s = 7 * 4 * 3e6 / 8e9;  // of the 0.1 s that 10 samples take
    EXPECT_NEAR(figures.scaling_efficiency, 0.1 / (0.1 - step_s + step_s / workers), 1e-6)
        << workers;
  }
}

TEST(Law16, FiguresAreOfTheWindow) {
  // Twice as many iterations change neither bytes nor staleness per iteration, and no link is more
  // than full, although one node is slow and works alone at the end. In the first iterations SSP
  // lets the others run three ahead.
  for (const char* schedule : {"asp", "ssp", "inhad"}) {
    Options options{
        {"platform",
         star_platform({.nodes = 2, .workers_per_node = 2, .nic_Bps = 2e8, .slow_speed = 0.5})},
        {"model", model_of({4'000'000})},
        {"schedule", schedule},
        {"iterations", "120"}};
    const Figures once = simulated(options).figures;
    options["iterations"] = "480";
    const Figures longer = simulated(options).figures;
    EXPECT_NEAR(once.bytes_sent, longer.bytes_sent, 0.03 * longer.bytes_sent) << schedule;
    EXPECT_NEAR(once.throughput_samples_per_s, longer.throughput_samples_per_s,
                0.03 * longer.throughput_samples_per_s)
        << schedule;
    EXPECT_LE(longer.busiest_links[0].utilisation, 1.01) << schedule;
  }
}

}  // namespace
}  // namespace syncline

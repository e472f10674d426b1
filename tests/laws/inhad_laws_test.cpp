// Law 12 (tests/laws/README.md) and other laws of InHAD: its bound, its progress, its pace.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <stdexcept>

#include "tests/laws/simulated.h"

namespace syncline {
namespace {

// Five workers on three nodes (two, two and one), with some jitter and a slow host.
Options five_workers(double nic_Bps = 2e8) {
  return {{"platform", star_platform({.nodes = 3,
                                      .workers_per_node = 2,
                                      .nic_Bps = nic_Bps,
                                      .bus_latency_s = 1e-6,
                                      .servers = 2,
                                      .slow_speed = 0.6})},
          {"model", model_of({400'000, 900'000, 100, 700'000})},
          {"workers", "5"},
          {"schedule", "inhad"},
          {"jitter", "0.2"},
          {"iterations", "6"}};
}

TEST(Law12, InhadWithOneWorkerPerNodeAndThresholdOneIsAsp) {
  // Iteration numbers and requests are 64 bytes without latency, so times differ by at most their
  // transfer times.
  Options options{{"platform", star_platform({.nodes = 4, .nic_latency_s = 0, .servers = 2})},
                  {"model", model_of({5'000'000})},
                  {"servers", "2"},
                  {"iterations", "10"},
                  {"partition-bytes", "1e9"},         // InHAD has no partitions
                  {"host-memory-bandwidth", "1e15"},  // its server reads no report while it adds
                  {"jitter", "0.3"}};
  options["schedule"] = "asp";
  const Simulated asp = simulated(options);
  options["schedule"] = "inhad";
  options["threshold"] = "1";
  options["staleness"] = "0";
  const Simulated inhad = simulated(options);
  EXPECT_NEAR(inhad.trace.end_s, asp.trace.end_s, 1e-5);
  EXPECT_EQ(inhad.figures.updates, asp.figures.updates);
  EXPECT_EQ(inhad.figures.staleness_histogram, asp.figures.staleness_histogram);
}

TEST(Law12, InhadWithThresholdOfAllWorkersAndNoStalenessMakesOneUpdatePerRound) {
  const int iterations = 5;
  const Simulated run = simulated({{"platform", star_platform({.nodes = 3, .workers_per_node = 2})},
                                   {"model", model_of({100'000})},
                                   {"schedule", "inhad"},
                                   {"threshold", "6"},
                                   {"staleness", "0"},
                                   {"jitter", "0.3"},
                                   {"warmup", "0"},
                                   {"iterations", std::to_string(iterations)}});
  EXPECT_EQ(run.figures.updates, iterations);
  EXPECT_EQ(run.figures.staleness_max, 0);
  std::map<std::pair<int, std::int64_t>, int> gradients;  // by server and update
  for (const Row& row : run.rows("apply"))
    ++gradients[{row.rank, row.version}];
  EXPECT_EQ(gradients.size(), 3u * iterations);
  for (const auto& [update, count] : gradients)
    EXPECT_EQ(count, 6);
}

// The largest number of iterations by which a worker's parameters lag behind it, from the `take`
// rows; checks them against the times at which servers applied its gradients.
int widest_lag(const Simulated& run) {
  std::map<std::pair<int, int>, double> applied_s;  // by worker and iteration: on all servers
  std::map<std::pair<int, int>, int> parts;
  for (const Row& row : run.rows("apply")) {
    double& last_s = applied_s[{row.worker, row.iteration}];
    last_s = std::max(last_s, row.end_s);
    ++parts[{row.worker, row.iteration}];
  }
  for (const auto& [gradient, count] : parts)
    EXPECT_EQ(count, run.trace.servers);
  int widest = 0;
  for (const Row& row : run.rows("take")) {
    if (row.rank >= run.trace.workers)
      continue;
    widest = std::max(widest, row.iteration + 1 - static_cast<int>(row.version));
    for (int c = 0; c < static_cast<int>(row.version); ++c)
      EXPECT_LE(applied_s.at({row.rank, c}), row.start_s);
  }
  return widest;
}

TEST(Inhad, AWorkersParametersLackAtMostStalenessOfItsGradients) {
  for (const double nic_Bps : {1e6, 2e8})
    for (const char* servers : {"0", "1", "2"})
      for (const char* report : {"gradient", "round"})
        for (const int staleness : {0, 1, 2, 5}) {
          Options options = five_workers(nic_Bps);
          options["servers"] = servers;
          options["report"] = report;
          options["iterations"] = "12";
          options["staleness"] = std::to_string(staleness);
          const int widest = widest_lag(simulated(options));
          EXPECT_LE(widest, staleness) << nic_Bps << " " << servers << " " << report;
          if (nic_Bps < 1e7) {
            EXPECT_EQ(widest, staleness) << "the bound is never reached, so it was not tested";
          }
        }
  Options options = five_workers(1e6);
  options["staleness"] = "none";
  EXPECT_EQ(widest_lag(simulated(options)), 7) << "it did not run on";  // one warm-up iteration
}

// Every gradient is applied once on each server, and the run ends; any deadlock is an error.
TEST(Inhad, NoSettingsMakeItWaitForEver) {
  int runs = 0;
  for (const char* staleness : {"0", "1", "3", "none"})
    for (const char* threshold : {"1", "2", "3", "4", "5", "9", "10", "19", "20"}) {
      const std::string bound = staleness;
      if (bound != "none" && std::stoi(threshold) > 5 * (std::stoi(bound) + 1))
        continue;
      for (const char* report : {"gradient", "round"})
        for (const char* answer : {"pulled", "all"})
          for (const char* servers : {"0", "1", "2"})
            for (const char* iterations : {"1", "4"}) {
              // On the slow network workers wait for transfers, on the fast one for each other.
              Options options = five_workers(++runs % 2 == 0 ? 1e6 : 1e9);
              options.insert({{"staleness", staleness},
                              {"threshold", threshold},
                              {"report", report},
                              {"answer", answer},
                              {"servers", servers}});
              options["iterations"] = iterations;
              options["seed"] = std::to_string(runs);
              const Simulated run = simulated(options);
              const auto gradients = static_cast<std::size_t>(5 * (std::stoi(iterations) + 1));
              EXPECT_EQ(run.rows("apply").size(),
                        gradients * static_cast<std::size_t>(run.trace.servers))
                  << bound << threshold << report << answer << servers;
            }
    }
  EXPECT_GT(runs, 500);
}

TEST(Inhad, RefusesAThresholdThatIsNeverMet) {
  Options options = five_workers();
  options["threshold"] = "10";
  EXPECT_GT(simulated(options).figures.throughput_samples_per_s,
            0);  // two gradients of each worker, due to staleness 1
  options["threshold"] = "11";
  try {
    simulated(options);
    FAIL() << "five workers stop at ten gradients";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("never have more than 10"), std::string::npos)
        << error.what();
  }
  options["staleness"] = "none";
  EXPECT_GT(simulated(options).figures.throughput_samples_per_s, 0);
}

// Four nodes of two workers that compute for 0.1 s; 20 MB of gradients.
Options eight_workers(double nic_Bps) {
  return {{"platform", star_platform({.nodes = 4, .workers_per_node = 2, .nic_Bps = nic_Bps})},
          {"model", model_of({5'000'000})},
          {"iterations", "60"},
          {"jitter", "0.1"}};
}

TEST(Inhad, ASlowNetworkSlowsItToTheSecondsOfItsBytes) {
  // For an update with all workers' gradients, a node's card sends 3/4 of its sum to the other
  // nodes' servers, and 1/4 of the parameters to each of three nodes.
  const double bytes = 1.5 * 4 * 5'000'000;
  double before = 0;
  for (const double nic_Bps : {1.25e6, 1e7, 1e8, 3e8, 1e10}) {
    Options options = eight_workers(nic_Bps);
    options["schedule"] = "inhad";
    const Figures figures = simulated(options).figures;
    EXPECT_GT(figures.throughput_samples_per_s, before) << nic_Bps;
    const double bound = 8 * 10 / (bytes / nic_Bps);
    EXPECT_LE(figures.throughput_samples_per_s, 1.005 * bound) << nic_Bps;
    if (nic_Bps <= 1e8) {  // nearly the bound: updates of 7 gradients move as much
      EXPECT_GE(figures.throughput_samples_per_s, 0.95 * bound) << nic_Bps;
      EXPECT_GT(figures.exposed_communication_s, 10 * figures.waiting_s) << nic_Bps;
      EXPECT_EQ(figures.bottleneck.find("communication"), 0u) << figures.bottleneck;
    }
    before = figures.throughput_samples_per_s;
  }
}

TEST(Inhad, HidingATransferCostsARoundOfStaleness) {
  // An ASP gradient misses one gradient of each other worker. InHAD without staleness misses fewer:
  // its updates have several gradients. To hide s transfers it computes without the last s rounds.
  for (const double nic_Bps : {1e8, 1e10}) {
    Options options = eight_workers(nic_Bps);
    options["schedule"] = "asp";
    const double asp = simulated(options).figures.staleness_mean;
    EXPECT_NEAR(asp, 7, 0.2);
    options["schedule"] = "inhad";
    options["staleness"] = "0";
    for (const char* threshold : {"1", "2", "4", "8"}) {
      options["threshold"] = threshold;
      EXPECT_LT(simulated(options).figures.staleness_mean, asp) << threshold;
    }
    EXPECT_EQ(simulated(options).figures.staleness_max, 0);  // threshold 8 means rounds
  }
  Options options = eight_workers(1e7);
  options["schedule"] = "inhad";
  for (const int s : {1, 2, 3}) {
    options["staleness"] = std::to_string(s);
    options.erase("host-memory-bandwidth");
    EXPECT_LT(simulated(options).figures.staleness_mean, 8.4 * s);
    options["host-memory-bandwidth"] = "1e15";  // keeps nodes in step
    const Figures figures = simulated(options).figures;
    EXPECT_NEAR(figures.staleness_mean, 8 * s, 0.8 * s);  // the first rounds have less
    EXPECT_NEAR(figures.staleness_updates_mean, s, 0.1 * s);
    EXPECT_NEAR(figures.staleness_iterations_mean, s, 0.1 * s);
  }
}

TEST(Inhad, SeveralWorkersOfANodeTakeParametersAtTheSameTime) {
  // Once, only one of the waiting senders was woken. SimGrid stopped the others at the end, with a
  // deadlock message on stderr that nothing checked. Now a deadlock is an error.
  const Simulated run = simulated({{"platform", star_platform({.nodes = 1, .workers_per_node = 5})},
                                   {"model", model_of({1'000'000})},
                                   {"iterations", "10"},
                                   {"schedule", "inhad"}});
  EXPECT_EQ(run.rows("take").size(), 2u * 5 * 11);  // a row at each end; one warm-up iteration
}

TEST(Inhad, StalenessDoesNotGrowWithTheLengthOfTheRun) {
  // Once, a node was asked again while its sum was being sent. On a slow link sums queued, each
  // older than the one before.
  for (const char* staleness : {"1", "none"}) {
    Options options{{"platform", star_platform({.nodes = 2, .nic_Bps = 1.25e9, .slow_speed = 0.5})},
                    {"model", model_of({50'000'000, 50'000'000})},
                    {"schedule", "inhad"},
                    {"staleness", staleness}};
    options["iterations"] = "20";
    const double short_run = simulated(options).figures.staleness_mean;
    options["iterations"] = "200";
    EXPECT_LT(simulated(options).figures.staleness_mean, 2 * short_run + 1) << staleness;
  }
}

TEST(Inhad, ReportingByRoundKeepsPullingUnderJitter) {
  // Once, a report needed equal counts of all workers at the same time, which jitter made rare.
  Options options{{"platform", star_platform({.nodes = 1, .workers_per_node = 4})},
                  {"model", model_of({1000})},
                  {"schedule", "inhad"},
                  {"jitter", "0.3"},
                  {"iterations", "100"}};
  const auto by_gradient = simulated(options).figures.updates;
  options["report"] = "round";
  EXPECT_GT(simulated(options).figures.updates, by_gradient / 2);
}

}  // namespace
}  // namespace syncline

// Laws of `n-softsync` (Zhang, Gupta, Lian, Liu 2016): an update takes c = floor(workers / n)
// gradients in the order of arrival, no worker waits for it, and gradients are about n updates
// stale.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/laws/replay.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

constexpr int eight = 8;  // workers

// Two workers on each node, and hardly any bytes to send.
Options quick_network(int splitting, const Options& more = {}) {
  Options options{{"platform", star_platform({.nodes = 4,
                                              .workers_per_node = 2,
                                              .nic_Bps = 1e11,
                                              .nic_latency_s = 1e-8,
                                              .bus_Bps = 1e11,
                                              .servers = 2})},
                  {"model", model_of({300, 200, 100})},
                  {"bucket-bytes", "0"},
                  {"schedule", "n-softsync"},
                  {"servers", "2"},
                  {"splitting", std::to_string(splitting)},
                  {"iterations", "40"}};
  for (const auto& [key, value] : more)
    options[key] = value;
  return options;
}

using Place = std::tuple<int, int>;     // server, bucket
using Gradient = std::tuple<int, int>;  // worker, iteration
using Updates = std::vector<std::vector<Gradient>>;

std::map<Place, Updates> updates_of(const Trace& trace) {
  std::map<Place, Updates> all;
  for (const Row& row : trace.rows)
    if (row.verb == Verb::apply) {
      Updates& updates = all[{row.rank, row.bucket}];
      updates.resize(static_cast<std::size_t>(row.version));
      updates.back().emplace_back(row.worker, row.iteration);
    }
  return all;
}

std::map<Place, std::vector<Gradient>> arrivals_of(const Trace& trace) {
  std::map<Place, std::vector<Gradient>> all;
  for (const TracedMessage& message : trace.messages)
    if (message.to >= trace.workers) {
      const Row& row = trace.rows[static_cast<std::size_t>(message.receiver_row)];
      all[{row.rank, row.bucket}].emplace_back(message.from, row.iteration);
    }
  return all;
}

// Seven workers and n = 2 leave a remainder; so do eight and n = 3.
TEST(Softsync, AnUpdateHasTheNextGradientsInTheOrderOfArrival) {
  for (const int workers : {1, 7, eight})
    for (const int splitting : {1, 2, 3, 5})
      for (const char* jitter : {"0", "0.3"}) {
        if (splitting > workers && workers > 1)
          continue;
        const std::string what = std::to_string(workers) + "/" + std::to_string(splitting) + jitter;
        const Simulated run = simulated(
            quick_network(splitting, {{"workers", std::to_string(workers)}, {"jitter", jitter}}));
        const auto together = index(std::max(workers / splitting, 1));
        const auto arrivals = arrivals_of(run.trace);
        const auto all = updates_of(run.trace);
        ASSERT_EQ(all.size(), 6u) << what << ": two servers and three buckets";
        for (const auto& [place, updates] : all) {
          std::vector<Gradient> applied;
          for (std::size_t i = 0; i < updates.size(); ++i) {
            EXPECT_TRUE(updates[i].size() == together ||
                        (i + 1 == updates.size() && updates[i].size() < together))
                << what << ", update " << i;
            applied.insert(applied.end(), updates[i].begin(), updates[i].end());
          }
          const std::vector<Gradient>& came = arrivals.at(place);
          EXPECT_EQ(std::multiset(applied.begin(), applied.end()),
                    std::multiset(came.begin(), came.end()))
              << what << ": each gradient is applied once";
          if (jitter == std::string("0.3")) {  // else messages of one moment may change places
            EXPECT_EQ(applied, came) << what;
          }
        }
      }
}

// Nobody waits for an update, so where adding takes no time workers go on as with asp.
TEST(Softsync, WorkersNeverWaitForAnUpdate) {
  for (const char* jitter : {"0", "0.3"}) {
    Options options = quick_network(1, {{"jitter", jitter}, {"host-memory-bandwidth", "1e15"}});
    std::map<int, std::vector<double>> expected;
    options["schedule"] = "asp";
    options.erase("splitting");
    const Simulated asp = simulated(options);
    for (const Row& row : asp.rows("forward"))
      expected[row.rank].push_back(row.start_s);
    options["schedule"] = "n-softsync";
    for (const int splitting : {1, 3, eight}) {
      options["splitting"] = std::to_string(splitting);
      std::map<int, std::vector<double>> begins;
      const Simulated run = simulated(options);
      for (const Row& row : run.rows("forward"))
        begins[row.rank].push_back(row.start_s);
      ASSERT_EQ(begins.size(), expected.size());
      for (const auto& [worker, times] : begins) {
        ASSERT_EQ(times.size(), expected[worker].size()) << splitting;
        for (std::size_t i = 0; i < times.size(); ++i)
          EXPECT_NEAR(times[i], expected[worker][i], 1e-6) << splitting << ", worker " << worker;
      }
    }
  }
}

// A worker reads after its own push, and its next push comes `workers` pushes later. Of these
// pushes, updates come with every c-th, so a gradient misses n - 1 updates if its worker's last
// push made one, else n.
TEST(Softsync, EqualWorkersHaveAStalenessOfNMinusOneOverC) {
  for (const int splitting : {1, 2, 4, eight}) {
    const Simulated run = simulated(quick_network(splitting, {{"bucket-bytes", "all"}}));
    const double expected = splitting - static_cast<double>(splitting) / eight;
    EXPECT_NEAR(run.figures.staleness_updates_mean, expected, 0.02) << splitting;
    EXPECT_NEAR(static_cast<double>(run.figures.updates), 40 * splitting, splitting + 1);
  }
}

TEST(Softsync, UnequalWorkersHaveAStalenessOfAboutN) {
  for (const int splitting : {1, 2, 4, eight})
    for (const double slow_speed : {1.0, 0.4}) {
      const Simulated run = simulated(
          quick_network(splitting, {{"platform", star_platform({.nodes = 4,
                                                                .workers_per_node = 2,
                                                                .nic_Bps = 1e11,
                                                                .nic_latency_s = 1e-8,
                                                                .bus_Bps = 1e11,
                                                                .servers = 2,
                                                                .slow_speed = slow_speed})},
                                    {"jitter", "0.3"},
                                    {"iterations", "200"}}));
      EXPECT_NEAR(run.figures.staleness_updates_mean, splitting - splitting / 8.0, 0.1 * splitting)
          << splitting << ", " << slow_speed;
    }
}

TEST(Softsync, OneUpdateForEachRoundOfEqualWorkersHasAGradientOfEach) {
  const Simulated run = simulated(quick_network(1));
  for (const auto& [place, updates] : updates_of(run.trace))
    for (const std::vector<Gradient>& update : updates) {
      std::set<int> workers;
      for (const auto& [worker, iteration] : update)
        workers.insert(worker);
      EXPECT_EQ(workers.size(), index(eight));
    }
}

TEST(Softsync, AsManyUpdatesAsWorkersAreAsp) {
  for (const char* servers : {"0", "2"})
    for (const char* pull : {"dense", "compressed"})
      for (const char* rate : {"inverse", "workers"}) {
        Options options = quick_network(
            eight, {{"learn", "mlp"}, {"jitter", "0.3"}, {"servers", servers}, {"pull", pull}});
        options.merge(small_data());
        options["momentum"] = "0.5";
        options["staleness-rate"] = rate;
        options["platform"] = star_platform({.nodes = 4,
                                             .workers_per_node = 2,
                                             .nic_Bps = 2e6,
                                             .servers = *servers == '0' ? 0 : 2});
        if (pull == std::string("compressed"))
          options["compressor"] = "topk";
        else
          options["partition-bytes"] = "200";
        const Simulated softsync = simulated(options);
        options["schedule"] = "asp";
        options.erase("splitting");
        const Simulated asp = simulated(options);
        EXPECT_EQ(trace_text(softsync.trace), trace_text(asp.trace)) << servers << pull << rate;
        EXPECT_EQ(softsync.trace.learned->parameters_at_end, asp.trace.learned->parameters_at_end)
            << servers << pull << rate;
      }
}

TEST(Softsync, ASecondProgramGetsTheSameParameters) {
  for (const char* splitting : {"1", "2", "3", "8"})
    for (const char* rate : {"inverse", "workers"})
      for (const char* compressor : {"none", "topk"}) {
        Options options = quick_network(1, {{"learn", "mlp"},
                                            {"momentum", "0.5"},
                                            {"weight-decay", "0.01"},
                                            {"jitter", "0.4"},
                                            {"splitting", splitting},
                                            {"staleness-rate", rate},
                                            {"compressor", compressor}});
        options.merge(small_data());
        options.erase("model");  // the learned one is timed
        for (const Options& more :
             {Options{{"partition-bytes", "200"}}, Options{{"precision", "fp16"}},
              Options{{"learning-rate-schedule", "cosine"},
                      {"learning-rate-warm-up", "0.7"},
                      {"clip-norm", "0.3"},
                      {"skew", "0.5"}}}) {
          if (*compressor == 't' &&
              (more.contains("partition-bytes") || more.contains("precision")))
            continue;  // is one piece; and the replay has no halves of compressed values
          Options all = options;
          for (const auto& [key, value] : more)
            all[key] = value;
          const Simulated run = simulated(all);
          const Replayed again = replayed(all, run.trace);
          EXPECT_EQ(run.trace.learned->parameters_at_end, again.parameters)
              << splitting << rate << compressor << more.begin()->first;
          EXPECT_NE(again.parameters, again.initial);
        }
      }
}

// One worker's gradients are never stale, so it takes the steps of bsp.
TEST(Softsync, OneWorkerLearnsAsBspDoes) {
  Options options = quick_network(1, {{"workers", "1"}, {"learn", "mlp"}});
  options.merge(small_data());
  const std::vector<float> learned = simulated(options).trace.learned->parameters_at_end;
  options["schedule"] = "bsp";
  options.erase("servers");
  options.erase("splitting");
  EXPECT_EQ(learned, simulated(options).trace.learned->parameters_at_end);
}

}  // namespace
}  // namespace syncline

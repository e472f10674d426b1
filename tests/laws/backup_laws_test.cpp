// Laws of `backup` (Chen et al. 2016): an update takes place with the (n - b)-th of n gradients;
// the others are dropped and do not count. A second program in this file, without network or
// engine, computes the expected times.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/collectives.h"
#include "sim/setup/compute.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

constexpr double jitter = 0.3;
constexpr double solo_s = 0.1;  // one iteration
constexpr double slow_speed = 0.4;
constexpr int six = 6;  // number of workers

// Two workers on each node, the last node slow, and hardly any bytes to send.
Options quick_network(int backups) {
  return {{"platform", star_platform({.nodes = 3,
                                      .workers_per_node = 2,
                                      .nic_Bps = 1e11,
                                      .nic_latency_s = 1e-8,
                                      .bus_Bps = 1e11,
                                      .servers = 2,
                                      .slow_speed = slow_speed})},
          {"model", model_of({300, 200, 100})},
          {"bucket-bytes", "0"},
          {"schedule", "backup"},
          {"servers", "2"},
          {"backup-workers", std::to_string(backups)},
          {"jitter", std::to_string(jitter)},
          {"iterations", "40"}};
}

// When each worker began its first iteration.
std::vector<double> starts_of(const Trace& trace) {
  std::vector<double> starts(six);
  for (const Row& row : trace.rows)
    if (row.verb == Verb::forward && row.iteration == 0)
      starts[index(row.rank)] = row.start_s;
  return starts;
}

// The expected time of each update. A worker whose gradient is too late starts a new iteration at
// once.
std::vector<double> expected_updates(std::vector<double> begins, int backups, int updates) {
  struct At {
    int iteration = 0;
    int read = 0;  // number of updates that it has read
    double ready_s = 0;
  };
  const auto computing_s = [](int worker, int iteration) {
    return solo_s * jitter_factor(jitter, 1, worker, iteration) /
           (worker + 1 == six ? slow_speed : 1);
  };
  std::vector<At> all(six);
  for (int worker = 0; worker < six; ++worker)
    all[index(worker)].ready_s = begins[index(worker)] + computing_s(worker, 0);
  std::vector<double> times;
  std::set<int> waiting;
  while (static_cast<int>(times.size()) < updates) {
    int next = -1;
    for (int worker = 0; worker < six; ++worker)
      if (!waiting.contains(worker) &&
          (next < 0 || all[index(worker)].ready_s < all[index(next)].ready_s))
        next = worker;
    const double now_s = all[index(next)].ready_s;
    std::set<int> begin{next};
    if (all[index(next)].read == static_cast<int>(times.size())) {
      waiting.insert(next);
      begin.clear();
      if (static_cast<int>(waiting.size()) == six - backups) {
        times.push_back(now_s);
        begin.swap(waiting);
      }
    }
    for (const int worker : begin) {
      At& at = all[index(worker)];
      at.read = static_cast<int>(times.size());
      at.ready_s = now_s + computing_s(worker, ++at.iteration);
    }
  }
  return times;
}

// The times at which servers updated each part of the model.
std::map<std::pair<int, int>, std::vector<double>> updates_of(const Trace& trace) {
  std::map<std::pair<int, int>, std::vector<double>> times;
  for (const Row& row : trace.rows) {
    if (row.verb != Verb::apply)
      continue;
    std::vector<double>& of_part = times[{row.rank, row.bucket}];
    if (of_part.size() < static_cast<std::size_t>(row.version))
      of_part.push_back(row.end_s);
  }
  return times;
}

TEST(Backup, AnUpdateComesWithTheLastGradientThatIsAwaited) {
  for (const char* fidelity : {"flow", "step"})
    for (const int backups : {0, 1, 3}) {
      Options options = quick_network(backups);
      options["fidelity"] = fidelity;
      const Trace trace = simulated(options).trace;
      constexpr int updates = 15;  // all workers do 40 iterations or more
      const std::vector<double> expected = expected_updates(starts_of(trace), backups, updates);
      const auto parts = updates_of(trace);
      EXPECT_EQ(parts.size(), 6u) << "servers and buckets";
      const auto last =
          std::ranges::max_element(parts, {}, [](const auto& part) { return part.first.second; });
      ASSERT_GE(last->second.size(), index(updates));
      for (int update = 0; update < updates; ++update)
        EXPECT_NEAR(last->second[index(update)], expected[index(update)], 1e-4)
            << fidelity << ", " << backups << " backups, update " << update;
    }
}

TEST(Backup, OnlyWhatIsAppliedCounts) {
  for (const int backups : {0, 2}) {
    Options options = quick_network(backups);
    options["iterations"] = "auto";
    const Simulated run = simulated(options);
    const Window& window = run.trace.window;
    double applied = 0;
    double dropped = 0;
    for (const Row& row : run.trace.rows)
      if (row.end_s > window.from_s && row.end_s <= window.to_s) {
        applied += row.verb == Verb::apply ? 1 : 0;
        dropped += row.verb == Verb::drop ? 1 : 0;
      }
    constexpr double parts = 6;  // parts of a gradient: two servers and three buckets
    constexpr double batch = 10;
    EXPECT_NEAR(run.figures.throughput_samples_per_s,
                applied / parts * batch / (window.to_s - window.from_s),
                0.01 * run.figures.throughput_samples_per_s);
    EXPECT_EQ(dropped > 0, backups > 0);
    // Each update uses the gradients of all workers but the backups.
    const auto updates = static_cast<double>(run.figures.updates);
    double all = 0;
    for (const Row& row : run.rows("apply"))
      all += row.bucket == 0 && row.rank == six ? 1 : 0;
    EXPECT_NEAR(all, updates * (six - backups), six);
    EXPECT_EQ(run.figures.staleness_max, 0);
    EXPECT_EQ(run.figures.staleness_iterations_mean, 0);
  }
}

TEST(Backup, EveryWorkerEndsHoweverManyAreAwaited) {
  for (const char* iterations : {"1", "3", "auto"})
    for (const int backups : {0, 1, 4, 5}) {
      Options options = quick_network(backups);
      options["iterations"] = iterations;
      if (iterations == std::string("auto"))
        options["max-iterations"] = "30";
      const Simulated run = simulated(options);
      std::map<int, int> of_worker;
      for (const Row& row : run.rows("forward"))
        ++of_worker[row.rank];
      EXPECT_EQ(of_worker.size(), index(six)) << iterations << ", " << backups;
      EXPECT_EQ(run.rows("apply").size() + run.rows("drop").size(), 6 * run.rows("forward").size());
    }
}

TEST(Backup, WithoutBackupsItLearnsAsBspDoes) {
  Options options = quick_network(0);
  options.merge(small_data());
  options.insert({{"learn", "mlp"}, {"momentum", "0.5"}, {"weight-decay", "0.01"}});
  const std::vector<float> learned = simulated(options).trace.learned->parameters_at_end;
  options["schedule"] = "bsp";
  options["exchange"] = "ps";
  options.erase("backup-workers");
  const std::vector<float> expected = simulated(options).trace.learned->parameters_at_end;
  ASSERT_EQ(learned.size(), expected.size());
  for (std::size_t i = 0; i < learned.size(); ++i)
    EXPECT_NEAR(learned[i], expected[i], 1e-5) << i;
}

}  // namespace
}  // namespace syncline

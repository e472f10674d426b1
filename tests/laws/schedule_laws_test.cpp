// Laws 4, 5, 9 to 11 and 14 (tests/laws/README.md): who waits for whom, and byte counts.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <tuple>

#include "sim/plan.h"
#include "sim/schedule.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

// A scenario for every schedule: two workers on each of three nodes, some jitter, several buckets.
Options any_scenario(const std::string& schedule) {
  static const std::string platform = star_platform({.nodes = 3,
                                                     .workers_per_node = 2,
                                                     .nic_Bps = 2e8,
                                                     .bus_latency_s = 1e-6,
                                                     .slow_speed = 0.6});
  static const std::string model = model_of({400'000, 900'000, 100, 700'000});
  return {{"platform", platform}, {"model", model},      {"schedule", schedule},
          {"jitter", "0.2"},      {"bucket-bytes", "0"}, {"iterations", "6"}};
}

std::vector<Options> all_schedules_and_exchanges() {
  std::vector<Options> all;
  for (const auto& [name, schedule] : Registered<Schedule>::all()) {
    if (!schedule.chooses_exchange()) {
      all.push_back(any_scenario(name));
      continue;
    }
    const auto own = schedule.defaults.find("compressor");
    for (const std::string& compressor : own == schedule.defaults.end()
                                             ? std::vector<std::string>{"none", "topk", "qsgd"}
                                             : std::vector<std::string>{own->second})
      for (const std::string& exchange : exchanges_for(compressor)) {
        all.push_back(any_scenario(name));
        all.back()["compressor"] = compressor;
        all.back()["exchange"] = exchange;
      }
  }
  return all;
}

TEST(Law4, OverlapIsNeverSlowerAndNeverFasterThanItsParts) {
  for (const std::string& exchange : exchanges_for("none")) {
    Options options{{"platform", star_platform({.nodes = 4, .workers_per_node = 2})},
                    {"model", model_of({4'000'000, 3'000'000, 2'000'000, 6'000'000})},
                    {"exchange", exchange},
                    {"bucket-bytes", "0"}};
    const double with_s = simulated(options).iteration_s();
    options["overlap"] = "off";
    const double without_s = simulated(options).iteration_s();
    EXPECT_LT(with_s, without_s) << exchange;
    EXPECT_GE(with_s, std::max(0.1, without_s - 0.1) * (1 - 1e-9)) << exchange;
  }
}

TEST(Law5, SspWithoutStalenessIsBspThroughTheServer) {
  Options options{{"platform", star_platform({.nodes = 4, .servers = 2, .slow_speed = 0.7})},
                  {"model", model_of({1'000'000, 500'000})},
                  {"bucket-bytes", "all"},
                  {"servers", "2"},
                  {"jitter", "0.3"},
                  {"partition-bytes", "1e9"},
                  {"host-memory-bandwidth", "1e15"}};  // averaging adds all gradients at the end
  options["schedule"] = "bsp";
  options["exchange"] = "ps";
  const Simulated bsp = simulated(options);
  options["schedule"] = "ssp";
  options["staleness"] = "0";
  const Simulated ssp = simulated(options);
  EXPECT_NEAR(ssp.trace.end_s, bsp.trace.end_s, 1e-6);
  EXPECT_NEAR(ssp.iteration_s(), bsp.iteration_s(), 1e-6);
}

TEST(Law5, SspWithLargeStalenessAndWithoutACacheIsAsp) {
  const Simulated asp = simulated(any_scenario("asp"));
  Options options = any_scenario("ssp");
  options["staleness"] = "1000000";
  options["cache"] = "off";
  EXPECT_EQ(trace_text(simulated(options).trace), trace_text(asp.trace));
}

TEST(Law5, NoWorkerLeadsByMoreThanTheStaleness) {
  for (const int staleness : {0, 1, 2, 5}) {
    Options options = any_scenario("ssp");
    options["staleness"] = std::to_string(staleness);
    options["iterations"] = "12";
    const Simulated run = simulated(options);
    int widest = 0;
    for (const Row& start : run.rows("forward")) {
      // The number of iterations that each worker has pushed when this one starts its next
      // iteration.
      std::map<int, int> ended;
      for (int w = 0; w < run.trace.workers; ++w)
        ended[w] = 0;
      for (const Row& row : run.trace.rows)
        if (row.verb == Verb::backward && row.bucket == 3 && row.end_s <= start.start_s)
          ended[row.rank] = std::max(ended[row.rank], row.iteration + 1);
      const auto slowest =
          std::ranges::min_element(ended, {}, [](const auto& entry) { return entry.second; });
      widest = std::max(widest, start.iteration - slowest->second);
    }
    EXPECT_LE(widest, staleness);
    if (staleness <= 2) {
      EXPECT_EQ(widest, staleness) << "the bound is never reached, so it was not tested";
    }
  }
}

TEST(Law9, PermutingTheHostsOfASymmetricPlatformChangesNoReport) {
  for (const Options& scenario : all_schedules_and_exchanges()) {
    Options options = scenario;
    options["jitter"] = "0";
    std::vector<double> seconds;
    for (const char* prefix : {"a", "z9-"}) {
      options["platform"] =
          star_platform({.nodes = 3, .workers_per_node = 2, .nic_Bps = 2e8, .prefix = prefix});
      const Simulated run = simulated(options);
      seconds.push_back(run.figures.throughput_samples_per_s);
      seconds.push_back(run.figures.exposed_communication_s);
      seconds.push_back(run.figures.staleness_mean);
    }
    for (int i = 0; i < 3; ++i)
      EXPECT_DOUBLE_EQ(seconds[static_cast<std::size_t>(i)],
                       seconds[static_cast<std::size_t>(i + 3)]);
  }
}

// Names decide which host is worker 0. Neither names nor the number of workers change the seconds
// of a host's computation.
TEST(Law9, RenamingTheHostsOfAnUnequalPlatformChangesNoHostsSeconds) {
  for (const char* schedule : {"bsp", "asp"}) {
    std::vector<double> iterations_s;
    for (const int slow : {0, 3, 5}) {
      Options options = any_scenario(schedule);
      options["jitter"] = "0";
      options["platform"] = star_platform(
          {.nodes = 3, .workers_per_node = 2, .slow_speed = 0.5, .slow_worker = slow});
      const Simulated all = simulated(options);
      iterations_s.push_back(all.iteration_s());
      options["workers"] = "1";
      const Simulated first = simulated(options);
      for (const Simulated* run : {&all, &first})
        for (const Row& row : run->rows("forward"))
          // SimGrid ends an activity up to 1e-9 s too early; and rounding.
          EXPECT_NEAR(row.end_s - row.start_s, (row.rank == slow ? 0.2 : 0.1) / 3, 1.001e-9)
              << schedule << ", worker " << row.rank << ", slow is " << slow;
    }
    if (std::string(schedule) == "asp")
      continue;                                // its servers favour the workers beside them
    for (const double seconds : iterations_s)  // some have the sum a route's latency sooner
      EXPECT_NEAR(seconds, iterations_s.front(), 2.1e-5);
  }
}

TEST(Law10, TheSameScenarioGivesTheSameBytes) {
  for (Options options : all_schedules_and_exchanges()) {
    const std::string once = trace_text(simulated(options).trace);
    EXPECT_GT(once.size(), 1000u);
    EXPECT_EQ(once, trace_text(simulated(options).trace)) << options["schedule"];
    options["seed"] = "2";
    EXPECT_NE(once, trace_text(simulated(options).trace)) << options["schedule"];
  }
}

TEST(Law11, RowsOfOneStreamNeverOverlap) {
  for (const Options& options : all_schedules_and_exchanges()) {
    const Simulated run = simulated(options);
    std::map<std::tuple<int, Stream, int>, std::vector<Row>> streams;  // by rank, stream and stage
    for (const Row& row : run.trace.rows) {
      EXPECT_LE(row.start_s, row.end_s);
      if (row.stream != Stream::messages)
        streams[{row.rank, row.stream, row.stage}].push_back(row);
    }
    for (auto& [stream, rows] : streams) {
      std::ranges::sort(rows, [](const Row& a, const Row& b) {
        return a.start_s != b.start_s ? a.start_s < b.start_s : a.end_s < b.end_s;
      });
      for (std::size_t i = 1; i < rows.size(); ++i)
        EXPECT_LE(rows[i - 1].end_s, rows[i].start_s + 1e-12)
            << options.at("schedule") << " rank " << std::get<0>(stream) << " "
            << name_of(rows[i - 1].verb) << " " << name_of(rows[i].verb);
    }
  }
}

TEST(Law11, BytesSentAreBytesReceived) {
  for (const Options& options : all_schedules_and_exchanges()) {
    const Simulated run = simulated(options);
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    double on_links = 0;
    for (const Row& row : run.trace.rows) {
      sent += row.bytes_sent;
      received += row.bytes_received;
    }
    for (const LinkUse& link : run.trace.links)
      on_links += link.name.find("bus_UP") != std::string::npos ? link.bytes : 0;
    EXPECT_GT(sent, 0u);
    EXPECT_EQ(sent, received) << options.at("schedule");
    // Every worker, server and aggregator is behind a bus here, so all bytes start on a bus.
    EXPECT_DOUBLE_EQ(on_links, static_cast<double>(sent)) << options.at("schedule");
  }
}

// Servers have their own machines here, so a node's card only carries what its workers and its
// aggregator send to other nodes.
TEST(Law11, BytesThatLeaveANodeAreThoseOnItsCard) {
  for (const char* schedule : {"bsp", "local-sgd", "asp", "ssp", "inhad"}) {
    const Simulated run =
        simulated({{"platform", star_platform({.nodes = 2, .workers_per_node = 2, .servers = 2})},
                   {"model", model_of({1'000'000, 400'000})},
                   {"schedule", schedule},
                   {"servers", schedule == std::string("bsp") ? "0" : "2"},
                   {"exchange", schedule == std::string("bsp") ? "ring" : "ps"}});
    const Figures& figures = run.figures;
    double on_cards = 0;
    for (const LinkUse& link : run.trace.links)
      if (link.name.starts_with("node") && link.name.ends_with("-nic_UP"))
        on_cards += link.measured_bytes / (4 * figures.window_iterations);
    EXPECT_NEAR(figures.bytes_sent_off_node, on_cards, 1e-6 * on_cards) << schedule;
    EXPECT_NEAR(figures.bytes_sent_off_node + figures.bytes_sent_in_node, figures.bytes_sent,
                1e-6 * on_cards)
        << schedule;
    if (schedule == std::string("bsp")) {  // 0-1 and 2-3 stay inside, 1-2 and 3-0 leave
      EXPECT_NEAR(figures.bytes_sent_in_node, figures.bytes_sent_off_node, 1e-6 * on_cards);
    }
    if (schedule == std::string("inhad")) {  // two gradients to the aggregator, one sum out
      EXPECT_GT(figures.bytes_sent_in_node, 0);
    }
    if (schedule == std::string("asp")) {
      EXPECT_EQ(figures.bytes_sent_in_node, 0);
    }
  }
}

TEST(Law11, EveryServerAppliesEveryGradientOnce) {
  for (const char* schedule : {"asp", "ssp", "inhad"}) {
    const Simulated run = simulated(any_scenario(schedule));
    std::map<std::pair<int, int>, std::size_t> parts;  // by worker and iteration
    for (const Row& row : run.rows("apply"))
      ++parts[{row.worker, row.iteration}];
    EXPECT_EQ(parts.size(), 6u * 7) << schedule;  // one warm-up iteration
    for (const auto& [gradient, count] : parts) {
      EXPECT_GE(gradient.first, 0) << schedule;
      EXPECT_EQ(count, run.rows("apply").size() / parts.size()) << schedule;
    }
  }
}

TEST(Law11, PartsOfAnIterationAddUpToIt) {
  for (const Options& options : all_schedules_and_exchanges()) {
    const Simulated run = simulated(options);
    const Figures& figures = run.figures;
    EXPECT_NEAR(figures.compute_s + figures.compress_s + figures.exposed_communication_s +
                    figures.waiting_s,
                figures.iteration_mean_s, 1e-9)
        << options.at("schedule");
    EXPECT_FALSE(run.below_its_bound()) << options.at("schedule");
  }
}

TEST(Law14, AtDensityOneTopKSgdTakesTheStepsOfBsp) {
  Options options{
      {"platform",
       star_platform({.nodes = 4, .nic_Bps = 1e18, .nic_latency_s = 0, .slow_speed = 0.8})},
      {"model", model_of({400'000, 900'000})},
      {"device", cost_table(0, 0)},
      {"jitter", "0.1"},
      {"density", "1"},
      {"schedule", "topk-sgd"}};
  const Simulated sparse = simulated(options);
  options.erase("density");
  options["schedule"] = "bsp";
  const Simulated dense = simulated(options);
  const auto steps = [](const Simulated& run) {
    std::vector<std::tuple<int, int, std::int64_t>> all;
    for (const Row& row : run.rows("step"))
      all.emplace_back(row.rank, row.iteration, row.version);
    std::ranges::sort(all);
    return all;
  };
  EXPECT_EQ(steps(sparse), steps(dense));
  EXPECT_EQ(sparse.figures.updates, 11);
  EXPECT_NEAR(sparse.iteration_s() / dense.iteration_s(), 1, 1e-9);
  EXPECT_NEAR(sparse.figures.bytes_sent / dense.figures.bytes_sent, 3 * 2 / 1.5, 1e-5);
}

// Averaging follows the steps of a round, so nothing hides it.
TEST(LocalSgd, TakesItsStepsAndOneAveragePerRound) {
  Options options{{"platform", star_platform({.nodes = 3, .workers_per_node = 2})},
                  {"model", model_of({4'000'000, 3'000'000})},
                  {"bucket-bytes", "0"},
                  {"schedule", "local-sgd"}};
  for (const int steps : {1, 3, 8}) {
    options["local-steps"] = std::to_string(steps);
    const Predicted said = predicted(options);
    const Simulated run = simulated(options);
    EXPECT_NEAR(said.iteration_s, 0.1 + said.exchange_s / steps, 1e-9) << steps;
    EXPECT_NEAR(run.iteration_s(), said.iteration_s, 1e-6) << steps;
  }
}

TEST(EverySchedule, IsNeverMoreEfficientThanItsComputationAllows) {
  // Once, seconds of computation came from other iterations than the window's: with jitter and a
  // fast network they were 1.05 of the computation in the window.
  const std::string platform = star_platform({.nodes = 8, .nic_Bps = 1e12, .nic_latency_s = 1e-9});
  const std::string model = model_of({1000});
  for (const char* schedule : {"bsp", "asp", "ssp", "inhad"})
    for (const char* seed : {"1", "2", "3", "4", "5", "6"}) {
      const Figures figures = simulated({{"platform", platform},
                                         {"model", model},
                                         {"schedule", schedule},
                                         {"iterations", "10"},
                                         {"jitter", "0.5"},
                                         {"seed", seed}})
                                  .figures;
      const double alone_s = 0.1;  // on average
      EXPECT_LE(figures.scaling_efficiency * figures.compute_s, alone_s * (1 + 1e-9))
          << schedule << " " << seed;
      if (schedule == std::string("asp")) {
        EXPECT_GT(figures.compute_s, 0.999 * figures.iteration_mean_s) << "it only computes";
      }
    }
}

TEST(EverySchedule, RunsOnItsOwn) {
  // Also tests a new file in sim/schedules/ without an edit here, as laws 9 to 11 do.
  for (const Options& options : all_schedules_and_exchanges()) {
    const Figures figures = simulated(options).figures;
    EXPECT_GT(figures.throughput_samples_per_s, 0) << options.at("schedule");
    // Where nobody waits, the jitter of a short window may be short in the mean.
    const bool waits = !Registered<Schedule>::find(options.at("schedule")).draws_neighbours;
    EXPECT_LE(figures.scaling_efficiency, waits ? 1 + 1e-9 : 1.05) << options.at("schedule");
    EXPECT_FALSE(figures.bottleneck.empty());
  }
}

}  // namespace
}  // namespace syncline

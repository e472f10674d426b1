// Figures of traces that are small enough to compute by hand.
#include "sim/report/report.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/report/readable.h"
#include "sim/report/worker_figures.h"
#include "tests/unit/errors.h"
#include "tests/unit/trace_builder.h"

namespace syncline {
namespace {

TEST(Throughput, IsSamplesOverSeconds) {
  TraceBuilder builder(1);
  builder.iterates(0, 0, 2).iterates(0, 1, 2);
  EXPECT_DOUBLE_EQ(builder.report(10, 0).throughput_samples_per_s, 5);
}

TEST(Throughput, IsShownWithThreeDigitsOrMore) {
  EXPECT_EQ(rate_shown(0.018382, 1), "0.0184");  // once 0.0
  EXPECT_EQ(rate_shown(1.7449, 1), "1.74");
  EXPECT_EQ(rate_shown(12.345, 1), "12.3");
  EXPECT_EQ(rate_shown(12345.67, 1), "12345.7");
  EXPECT_EQ(rate_shown(0.5, 2), "0.500");
  EXPECT_EQ(rate_shown(9.9996, 1), "10.0");
  EXPECT_EQ(rate_shown(3.14159, 2), "3.14");
}

TEST(Figures, WarnsOfADivergenceAndSaysWhatToTry) {
  TraceBuilder builder(1);
  builder.iterates(0, 0, 2).iterates(0, 1, 2);
  builder.trace().learned.emplace();
  EXPECT_TRUE(builder.report(10, 0).warnings.empty());
  builder.trace().learned->diverged_s = 3.5;
  const Figures figures = builder.report(10, 0);
  ASSERT_EQ(figures.warnings.size(), 1U);
  expect_mentions(
      figures.warnings[0].text,
      {"diverged at 3.5 s: the loss is no number, or above 1,000 times that of the start",
       "learning-rate"});
  EXPECT_FALSE(figures.loss);
}

TEST(Throughput, LeavesWarmUpOut) {
  TraceBuilder builder(1);
  builder.iterates(0, 0, 100).iterates(0, 1, 2).iterates(0, 2, 2);
  EXPECT_DOUBLE_EQ(builder.report(10, 1).throughput_samples_per_s, 5);
  EXPECT_DOUBLE_EQ(builder.report(10, 1).iteration_mean_s, 2);
}

TEST(Throughput, WindowIsFromLastWarmUpToFirstEnd) {
  // One worker takes 1 s per iteration, the other 3 s for warm-up and then 2 s: from 3 s to 4 s
  // this makes one and a half iterations.
  for (const int slow : {0, 1}) {
    TraceBuilder builder(2);
    builder.apart();
    for (int i = 0; i < 4; ++i)
      builder.iterates(1 - slow, i, 1).iterates(slow, i, i == 0 ? 3 : 2);
    const Figures figures = builder.report(10, 1);
    EXPECT_DOUBLE_EQ(figures.throughput_samples_per_s, 10 * 1.5) << "worker " << slow << " is slow";
    ASSERT_EQ(figures.warnings.size(), 2U);  // and no others
    expect_mentions(figures.warnings[0].text, {"fewer than two iterations"});
    expect_mentions(figures.warnings[1].text, {fmt::format("worker {} does 2 times", 1 - slow)});
  }
}

TEST(Throughput, CountsTheInnerPartOfACutIteration) {
  // Worker 0: 1 s each, measured from 3 to 4 s. Worker 1: 3 s each, a third of which is inside.
  TraceBuilder builder(2);
  builder.apart();
  for (int i = 0; i < 4; ++i)
    builder.iterates(0, i, 1).iterates(1, i, 3);
  EXPECT_NEAR(builder.report(12, 1).throughput_samples_per_s, 12 * (1 + 1.0 / 3), 1e-9);
}

TEST(Throughput, WarnsIfTheFastestEndsBeforeTheSlowestHasWarmedUp) {
  TraceBuilder builder(2);
  builder.apart();
  for (int i = 0; i < 2; ++i)
    builder.iterates(0, i, 1).iterates(1, i, 10);
  const Figures figures = builder.report(10, 1);
  // From the start until 2 s: two iterations of one worker, a fifth of the other's first.
  EXPECT_NEAR(figures.throughput_samples_per_s, 10 * 2.2 / 2, 1e-9);
  ASSERT_EQ(figures.warnings.size(), 2U);
  expect_mentions(figures.warnings[0].text, {"ended before the slowest worker was warm"});
}

TEST(ScalingEfficiency, DividesByWhatWorkersDoAloneWhateverTheWindowSaw) {
  TraceBuilder builder(2);
  builder.iterates(0, 0, 1, 3).iterates(1, 0, 2, 2);  // alone the second is half as fast
  builder.trace().alone_per_s = 1 + 0.5;
  EXPECT_DOUBLE_EQ(builder.report(10, 0).scaling_efficiency, (2 * 10 / 4.0) / (10 + 5.0));
  builder.iterates(0, 1, 0.5, 3.5).iterates(1, 1, 2, 2);  // this time it computed faster by chance
  EXPECT_DOUBLE_EQ(builder.report(10, 0).scaling_efficiency, (2 * 10 / 4.0) / (10 + 5.0));
}

TEST(Iterations, OfUnequalWorkersAreTheirTimeForWhatThroughputCounts) {
  // In the same 6 s one worker does six iterations and the other two: 12 worker-seconds for eight.
  TraceBuilder builder(2);
  builder.apart();
  for (int i = 0; i < 7; ++i)
    builder.iterates(0, i, 0.5, 0.5);
  for (int i = 0; i < 3; ++i)
    builder.iterates(1, i, i == 0 ? 1 : 2, i == 0 ? 0 : 1)
        .moves(1, i, 3. * i - 0.5, 3. * i + 0.5, 100);
  const Figures figures = builder.report(10, 1);
  EXPECT_DOUBLE_EQ(figures.throughput_samples_per_s, 10 * 8 / 6.0);
  EXPECT_DOUBLE_EQ(figures.iteration_mean_s, 2 * 6 / 8.0);
  EXPECT_DOUBLE_EQ(figures.compute_s, (6 * 0.5 + 2 * 2) / 8);
  EXPECT_DOUBLE_EQ(figures.exposed_communication_s, (0.5 + 0.5) / 8);
  EXPECT_DOUBLE_EQ(figures.waiting_s, (6 * 0.5 + 2 * 1 - 1) / 8);
  ASSERT_EQ(figures.workers.size(), 2U);
  EXPECT_EQ(figures.workers[1].name, "worker 1");
  EXPECT_DOUBLE_EQ(figures.workers[0].iteration_mean_s, 1);
  EXPECT_DOUBLE_EQ(figures.workers[1].iteration_mean_s, 3);
  EXPECT_DOUBLE_EQ(figures.workers[1].waiting_s, 0.5);
  ASSERT_EQ(figures.warnings.size(), 1U);
  EXPECT_EQ(figures.warnings[0].text,
            "worker 0 does 3 times the iterations of worker 1, and samples/s counts them all");
  builder.trace().servers = 1;
  builder.trace().rank_names.push_back("server 0");
  builder.trace().on_worker = {0, 1, 0};
  EXPECT_TRUE(builder.report(10, 1).warnings[0].text.ends_with("counts them all"))
      << "workers that only answer each other, as ad-psgd's, push nothing";
  builder.trace().rows.push_back({.verb = Verb::push, .rank = 1, .iteration = 0});
  expect_mentions(builder.report(10, 1).warnings[0].text,
                  {"; server 0 runs on its host, so its pushes there cross no link"});
  builder.trace().rows.push_back({.rank = 0, .iteration = 0, .bytes_sent = 700});
  EXPECT_TRUE(
      builder.report(10, 1).warnings[0].text.ends_with("counts them all"));  // it sends as much
}

// A result with rows for a million different workers would have hundreds of megabytes.
TEST(WorkersTable, KeepsSomeOfManyRowsAndTheWorkerThatComputesLongest) {
  constexpr int most = static_cast<int>(most_worker_rows);
  for (const int count : {most, most + 1, most + 1024, 3 * most + 5})
    for (const int longest : {0, 1, 2900, 2901, 2902, 2903, most - 1, count - 2, count - 1}) {
      TraceBuilder builder(count);
      for (int i = 0; i < 2; ++i)
        for (int worker = 0; worker < count; ++worker)
          builder.iterates(worker, i, worker == longest ? 2 : 1 + 1e-2 * (worker % 7));
      const std::vector<WorkerFigures> rows = builder.report(10, 1).workers;
      ASSERT_EQ(rows.size(), most_worker_rows);
      std::vector<int> numbers;
      for (const WorkerFigures& row : rows)
        numbers.push_back(std::stoi(row.name.substr(7)));
      EXPECT_LE(numbers.front(), 2);
      EXPECT_GE(numbers.back(), count - 4);
      EXPECT_TRUE(std::ranges::is_sorted(numbers));
      EXPECT_EQ(std::ranges::adjacent_find(numbers), numbers.end()) << count << ": " << longest;
      EXPECT_EQ(std::ranges::count(numbers, longest), 1) << count << ": " << longest;
      for (std::size_t i = 1; i < numbers.size(); ++i)
        EXPECT_LE(numbers[i] - numbers[i - 1], 7);
    }
}

// Once, the report said that such a worker does fewer iterations, and that samples/s counts them
// all.
TEST(Iterations, OfAWorkerThatIsAlwaysLateAreDropped) {
  TraceBuilder builder(2);
  builder.apart();
  for (int i = 0; i < 7; ++i)
    builder.iterates(0, i, 1).iterates(1, i, 1);
  for (Row& row : builder.trace().rows)
    if (row.verb == Verb::apply && row.worker == 1 && row.iteration % 3 != 0)
      row.verb = Verb::drop;
  const Figures figures = builder.report(10, 1);
  ASSERT_FALSE(figures.warnings.empty());
  EXPECT_EQ(figures.warnings[0].text,
            "3 times as many iterations of worker 0 count as of worker 1, whose late gradients are "
            "dropped");
}

TEST(Iterations, OfAWorkerThatBeginsAfterTheWindowAreNone) {
  TraceBuilder builder(2);
  builder.apart().iterates(0, 0, 1);
  builder.computes(1, 0, "wait", 5).iterates(1, 0, 4);
  const Figures figures = builder.report(10, 0);
  EXPECT_DOUBLE_EQ(figures.throughput_samples_per_s, 10);
  EXPECT_DOUBLE_EQ(figures.iteration_mean_s, 2);
  EXPECT_DOUBLE_EQ(figures.compute_s + figures.waiting_s, 2);
  EXPECT_DOUBLE_EQ(figures.bound_compute_s, 2);
  ASSERT_EQ(figures.workers.size(), 2U);
  EXPECT_EQ(figures.workers[1].iterations, 0);
  EXPECT_EQ(figures.workers[1].iteration_mean_s, 0);
  expect_mentions(figures.warnings.back().text,
                  {"worker 0 does iterations in the window, which has none of worker 1"});
}

// With cached parameters, workers may have computed everything before the first gradient is
// applied.
TEST(Iterations, OfAWindowWithoutComputationAreWaiting) {
  TraceBuilder builder(1);
  builder.apart().computes(0, 0, "forward", 1).computes(0, 1, "forward", 1);
  for (const int i : {0, 1})
    builder.trace().rows.push_back({.start_s = 5. + 3 * i,
                                    .end_s = 5. + 3 * i,
                                    .verb = Verb::apply,
                                    .rank = 1,
                                    .iteration = i,
                                    .version = i + 1,
                                    .read_version = i,
                                    .worker = 0});
  const Figures figures = builder.report(10, 1);
  EXPECT_DOUBLE_EQ(figures.iteration_mean_s, 3);
  EXPECT_DOUBLE_EQ(figures.compute_s, 0);
  EXPECT_DOUBLE_EQ(figures.waiting_s, 3);
  EXPECT_DOUBLE_EQ(figures.bound_compute_s, 0);
}

TEST(Iterations, OfNeighboursThatDoTheSameStandInOneRow) {
  TraceBuilder builder(4);
  for (int i = 0; i < 3; ++i)
    for (const int rank : {0, 1, 2, 3})
      builder.iterates(rank, i, rank == 2 ? 2 : 1, rank == 2 ? 0 : 1);
  const Figures figures = builder.report(10, 1);
  ASSERT_EQ(figures.workers.size(), 3U);
  EXPECT_EQ(figures.workers[0].name, "worker 0 to 1");
  EXPECT_EQ(figures.workers[2].name, "worker 3");
  EXPECT_DOUBLE_EQ(figures.workers[1].compute_s, 2);
}

// Tables show three digits of an iteration, and whole percents of it.
TEST(Iterations, OfNeighboursThatDifferByLessThanATableShowsStandInOneRow) {
  for (const auto& [longer_s, rows] : {std::pair(1.0005, 1U), std::pair(1.002, 2U)}) {
    TraceBuilder builder(2);
    for (int i = 0; i < 3; ++i)
      for (const int rank : {0, 1})
        builder.iterates(rank, i, rank == 1 ? longer_s : 1, rank == 1 ? 0 : longer_s - 1);
    EXPECT_EQ(builder.report(10, 1).workers.size(), rows) << longer_s;
  }
}

TEST(Iterations, HaveNearestRankPercentiles) {
  TraceBuilder builder(1);
  for (int i = 0; i < 200; ++i)
    builder.iterates(0, i, 200 - i);
  const Figures figures = builder.report(1, 0);
  EXPECT_NEAR(figures.iteration_p50_s, 100, 1e-9);
  EXPECT_NEAR(figures.iteration_p99_s, 198, 1e-9);
  EXPECT_NEAR(figures.iteration_mean_s, 100.5, 1e-9);
  TraceBuilder five(1);
  int next = 0;
  for (const int seconds : {4, 1, 5, 2, 3})
    five.iterates(0, next++, seconds);
  EXPECT_NEAR(five.report(1, 0).iteration_p50_s, 3, 1e-9);
  EXPECT_NEAR(five.report(1, 0).iteration_p99_s, 5, 1e-9);
}

TEST(Rounds, AreCountedWholeAndAtTheirOwnPace) {
  // Rounds of two: 1 s, then 3 s with an exchange that ends 0.5 s later for the second worker. The
  // last round before the window ends at 4 and 4.5 s, the fifth at 20 and 20.5 s.
  TraceBuilder builder(2);
  builder.trace().round = 2;
  for (int i = 0; i < 10; ++i) {
    builder.iterates(0, i, 1, i % 2 == 0 ? 0 : 2);
    builder.iterates(1, i, 1, i % 2 == 0 ? 0 : i == 1 ? 2.5 : 2);
  }
  const Figures figures = builder.report(10, 2);
  EXPECT_DOUBLE_EQ(figures.window_iterations, 8);
  EXPECT_DOUBLE_EQ(figures.throughput_samples_per_s, 2 * 10 / 2.0);
  EXPECT_DOUBLE_EQ(figures.iteration_mean_s, 2);
  EXPECT_NEAR(figures.halves_differ, 0, 1e-12);
  EXPECT_FALSE(figures.throughput_interval);  // only four rounds
  builder.iterates(0, 10, 1).iterates(1, 10, 1).iterates(0, 11, 1, 2).iterates(1, 11, 1, 2);
  EXPECT_NEAR(builder.report(10, 2).throughput_interval.value_or(1), 0, 1e-12);
}

// An `apply` row at 1 s for a gradient of this worker.
Row applied(int bucket, std::int64_t version, std::int64_t read, int worker, int iteration) {
  return {.start_s = 1,
          .end_s = 1,
          .verb = Verb::apply,
          .rank = 2,
          .bucket = bucket,
          .iteration = iteration,
          .version = version,
          .read_version = read,
          .worker = worker};
}

TEST(Staleness, OfOneGradientPerUpdateIsTheSameInGradientsAndUpdates) {
  TraceBuilder builder(2);
  builder.iterates(0, 0, 1).iterates(1, 0, 1);
  builder.trace().rows.push_back(applied(0, 1, 0, 0, 0));  // no update in between
  builder.trace().rows.push_back(applied(0, 2, 0, 1, 0));  // misses the first
  builder.trace().rows.push_back(applied(0, 3, 1, 0, 1));  // knew none of worker 1's iterations
  builder.trace().rows.push_back(applied(1, 1, 0, 0, 0));  // of another bucket
  const Figures figures = builder.report(1, 0);
  EXPECT_EQ(figures.staleness_histogram, (std::map<std::int64_t, std::int64_t>{{0, 2}, {1, 2}}));
  EXPECT_EQ(figures.staleness_max, 1);
  EXPECT_DOUBLE_EQ(figures.staleness_mean, 2.0 / 4);
  EXPECT_DOUBLE_EQ(figures.staleness_updates_mean, 2.0 / 4);
  EXPECT_DOUBLE_EQ(figures.staleness_iterations_mean, 1.0 / 4);
  EXPECT_EQ(figures.updates, 3);  // updates of the parameters, not of each bucket
}

TEST(Staleness, CountsTheGradientsOfTheUpdatesInBetween) {
  // Updates of 3, 2 and 1 gradients. Gradients of one update do not make each other stale.
  TraceBuilder builder(2);
  builder.iterates(0, 0, 1).iterates(1, 0, 1);
  for (const Row& row : {applied(-1, 1, 0, 0, 0), applied(-1, 1, 0, 1, 0), applied(-1, 1, 0, 0, 1),
                         applied(-1, 2, 0, 0, 2), applied(-1, 2, 1, 1, 1), applied(-1, 3, 0, 1, 2)})
    builder.trace().rows.push_back(row);
  const Figures figures = builder.report(1, 0);
  EXPECT_EQ(figures.staleness_histogram,
            (std::map<std::int64_t, std::int64_t>{{0, 4}, {3, 1}, {5, 1}}));
  EXPECT_EQ(figures.staleness_max, 5);
  EXPECT_DOUBLE_EQ(figures.staleness_mean, (3.0 + 5) / 6);
  EXPECT_DOUBLE_EQ(figures.staleness_updates_mean, (1.0 + 2) / 6);
  // Clocks: version 0 has no iterations, version 1 has one of the slower worker.
  EXPECT_DOUBLE_EQ(figures.staleness_iterations_mean, (0.0 + 0 + 1 + 2 + 0 + 2) / 6);
}

TEST(Bottleneck, NamesTheLargestPart) {
  TraceBuilder computing(1);
  computing.iterates(0, 0, 4, 1).moves(0, 0, 4, 5);
  expect_mentions(computing.report(1, 0).bottleneck, {"computation", "80 %"});
  TraceBuilder communicating(1);
  communicating.iterates(0, 0, 1, 4).moves(0, 0, 1, 5);
  communicating.trace().links = {{"uplink", 10, 40, 40}};
  expect_mentions(communicating.report(1, 0).bottleneck, {"communication", "80 %", "uplink"});
  TraceBuilder waiting(2);
  waiting.iterates(0, 0, 1, 4).iterates(1, 0, 1, 0).iterates(1, 1, 4, 0).iterates(0, 1, 1, 4);
  expect_mentions(waiting.report(1, 0).bottleneck, {"waiting", "worker 1"});
}

// 6 s of computation, then 4 s in which bytes move, on a link that is busy for part of the run.
std::string bottleneck_of_six_to_four(double link_s) {
  TraceBuilder builder(1);
  builder.iterates(0, 0, 6, 4).moves(0, 0, 1, 10);
  builder.trace().links = {{"uplink", 10, 10 * link_s, 10 * link_s}};
  return builder.report(1, 0).bottleneck;
}

TEST(Bottleneck, IsALinkThatIsFullerThanTheDevice) {
  EXPECT_EQ(bottleneck_of_six_to_four(8.7),
            "communication: 40 % of an iteration stands still for it, computation 60 %; the "
            "busiest link, uplink, is 87 % full");
}

TEST(Bottleneck, NamesEveryPartOfATenthOrMore) {
  EXPECT_EQ(bottleneck_of_six_to_four(3),
            "computation: 60 % of an iteration, communication 40 %; the busiest link, uplink, is "
            "30 % full");
  TraceBuilder hidden(1);
  hidden.iterates(0, 0, 9.5, 0.5).moves(0, 0, 1, 10);
  EXPECT_EQ(hidden.report(1, 0).bottleneck, "computation: 95 % of an iteration");
}

}  // namespace
}  // namespace syncline

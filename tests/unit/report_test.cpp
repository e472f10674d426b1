// Figures of traces that are small enough to compute by hand.
#include "sim/report/report.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "sim/window.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

// Makes a trace: the compute rows of each worker follow each other.
class TraceBuilder {
 public:
  explicit TraceBuilder(int workers) : clock_(static_cast<std::size_t>(workers)) {
    trace_.workers = workers;
    for (int i = 0; i < workers; ++i)
      trace_.rank_names.push_back("worker " + std::to_string(i));
  }

  // Seconds of `verb` on the compute stream.
  TraceBuilder& computes(int rank, int iteration, std::string_view verb, double seconds) {
    double& now = clock_[static_cast<std::size_t>(rank)];
    trace_.rows.push_back({.start_s = now,
                           .end_s = now + seconds,
                           .verb = verb,
                           .rank = rank,
                           .iteration = iteration});
    now += seconds;
    trace_.end_s = std::max(trace_.end_s, now);
    return *this;
  }
  // One iteration: `seconds` of computation, then `wait_s` of waiting.
  TraceBuilder& iterates(int rank, int iteration, double seconds, double wait_s = 0) {
    computes(rank, iteration, "forward", seconds / 4)
        .computes(rank, iteration, "backward", seconds * 3 / 4);
    if (wait_s > 0)
      computes(rank, iteration, "wait", wait_s);
    computes(rank, iteration, "step", 0);
    if (trace_.in_step)
      return *this;
    const double now = clock_[static_cast<std::size_t>(rank)];
    trace_.rows.push_back({.start_s = now,
                           .end_s = now,
                           .verb = "apply",
                           .rank = trace_.workers,
                           .iteration = iteration,
                           .version = ++version_,
                           .read_version = version_ - 1,
                           .worker = rank});
    return *this;
  }
  // Nobody waits for all others: from here on iterations count when they are applied, at their end.
  TraceBuilder& apart() {
    trace_.in_step = false;
    return *this;
  }
  TraceBuilder& moves(int rank, int iteration, double start_s, double end_s,
                      std::uint64_t bytes = 0, std::string_view verb = "all-reduce") {
    trace_.rows.push_back({.start_s = start_s,
                           .end_s = end_s,
                           .verb = verb,
                           .stream = Stream::communication,
                           .rank = rank,
                           .iteration = iteration,
                           .bytes_sent = bytes,
                           .bytes_received = 2 * bytes});
    return *this;
  }
  Trace& trace() { return trace_; }
  Figures report(int batch, int warmup) {
    const std::vector<Progress> progress = progress_of(trace_);
    trace_.window = trace_.in_step
                        ? window_after({pace_of(progress, trace_.round)}, warmup / trace_.round)
                        : window_after(progress, warmup);
    return figures_of(trace_, batch);
  }

 private:
  Trace trace_;
  std::vector<double> clock_;
  std::int64_t version_ = 0;
};

TEST(Throughput, IsSamplesOverSeconds) {
  TraceBuilder builder(1);
  builder.iterates(0, 0, 2).iterates(0, 1, 2);
  EXPECT_DOUBLE_EQ(builder.report(10, 0).throughput_samples_per_s, 5);
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
      figures.warnings[0],
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
  // One takes 1 s per iteration, the other 3 s for warm-up and then 2 s: from 3 s to 4 s these are
  // one and a half iterations.
  for (const int slow : {0, 1}) {
    TraceBuilder builder(2);
    builder.apart();
    for (int i = 0; i < 4; ++i)
      builder.iterates(1 - slow, i, 1).iterates(slow, i, i == 0 ? 3 : 2);
    const Figures figures = builder.report(10, 1);
    EXPECT_DOUBLE_EQ(figures.throughput_samples_per_s, 10 * 1.5) << "worker " << slow << " is slow";
    ASSERT_EQ(figures.warnings.size(), 1U);  // and of nothing else
    expect_mentions(figures.warnings[0], {"fewer than two iterations"});
  }
}

TEST(Throughput, CountsTheInnerPartOfACutIteration) {
  // Worker 0: 1 s each, measured from 3 to 4 s. Worker 1: 3 s each, of which a third is inside.
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
  // From the start until 2 s: two iterations of the one, a fifth of the other's first.
  EXPECT_NEAR(figures.throughput_samples_per_s, 10 * 2.2 / 2, 1e-9);
  ASSERT_EQ(figures.warnings.size(), 1U);
}

TEST(ScalingEfficiency, DividesByEachWorkersOwnSpeed) {
  TraceBuilder builder(2);
  builder.iterates(0, 0, 1, 3).iterates(1, 0, 2, 2);  // the second is half as fast alone
  EXPECT_DOUBLE_EQ(builder.report(10, 0).scaling_efficiency, (2 * 10 / 4.0) / (10 + 5.0));
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

TEST(Breakdown, SeparatesExposedFromWaiting) {
  // 4 s of computation, then 3 s of waiting; bytes move from 3 to 6 s.
  TraceBuilder builder(1);
  builder.iterates(0, 0, 4, 3).moves(0, 0, 3, 6);
  const Figures figures = builder.report(1, 0);
  EXPECT_DOUBLE_EQ(figures.compute_s, 4);
  EXPECT_DOUBLE_EQ(figures.exposed_communication_s, 2);
  EXPECT_DOUBLE_EQ(figures.waiting_s, 1);
}

TEST(Breakdown, CountsOverlappingTransfersOnce) {
  TraceBuilder builder(1);
  builder.iterates(0, 0, 4, 4).moves(0, 0, 5, 6).moves(0, 0, 5.5, 6.5).moves(0, 0, 7.5, 9);
  EXPECT_DOUBLE_EQ(builder.report(1, 0).exposed_communication_s, 2);
}

TEST(Breakdown, DoesNotCountAWaitingStreamAsMoving) {
  TraceBuilder builder(1);
  builder.iterates(0, 0, 4, 3).moves(0, 0, 4, 6, 0, "wait").moves(0, 0, 6, 7);
  const Figures figures = builder.report(1, 0);
  EXPECT_DOUBLE_EQ(figures.exposed_communication_s, 1);
  EXPECT_DOUBLE_EQ(figures.waiting_s, 2);
}

TEST(Breakdown, AddsUpToTheMeanIteration) {
  TraceBuilder builder(2);
  for (int i = 0; i < 5; ++i)
    for (int rank = 0; rank < 2; ++rank) {
      builder.computes(rank, i, "forward", 1 + rank)
          .computes(rank, i, "backward", 2)
          .computes(rank, i, "compress", 0.5)
          .computes(rank, i, "wait", 0.25 * (i + 1))
          .computes(rank, i, "decompress", 0.125)
          .computes(rank, i, "step", 0);
      builder.moves(rank, i, 4.0 * i, 4.0 * i + 3.6);
    }
  const Figures figures = builder.report(1, 1);
  EXPECT_NEAR(
      figures.compute_s + figures.compress_s + figures.exposed_communication_s + figures.waiting_s,
      figures.iteration_mean_s, 1e-12);
  EXPECT_DOUBLE_EQ(figures.compress_s, 0.625);
  EXPECT_DOUBLE_EQ(figures.compute_s, 3.5);
}

TEST(Bytes, ArePerWorkerAndIteration) {
  TraceBuilder builder(2);
  for (int i = 0; i < 3; ++i)
    builder.iterates(0, i, 1)
        .iterates(1, i, 1)
        .moves(0, i, i, i + 1, 300)
        .moves(1, i, i, i + 1, 100);
  Figures figures = builder.report(1, 1);
  EXPECT_DOUBLE_EQ(figures.bytes_sent, 200);
  EXPECT_DOUBLE_EQ(figures.bytes_received, 400);
  // A server's bytes are not the workers', a node aggregator's are.
  builder.trace().servers = 1;
  builder.trace().rows.push_back({.rank = 2, .iteration = 0, .bytes_sent = 999});
  figures = builder.report(1, 1);
  EXPECT_DOUBLE_EQ(figures.bytes_sent, 200);
  builder.trace().rows.push_back({.rank = 3, .iteration = 1, .bytes_sent = 400});
  figures = builder.report(1, 1);
  EXPECT_DOUBLE_EQ(figures.bytes_sent, 300);
}

TEST(Links, AreTheThreeBusiestInOrder) {
  TraceBuilder builder(1);
  builder.iterates(0, 0, 5).iterates(0, 1, 5);
  builder.trace().links = {
      {"a", 100, 100, 50}, {"b", 10, 80, 40}, {"d", 10, 50, 25}, {"c", 10, 50, 25}};
  const Figures figures = builder.report(1, 1);
  ASSERT_EQ(figures.busiest_links.size(), 3U);
  EXPECT_EQ(figures.busiest_links[0].name, "b");
  EXPECT_EQ(figures.busiest_links[1].name, "c");
  EXPECT_EQ(figures.busiest_links[2].name, "d");
  EXPECT_DOUBLE_EQ(figures.busiest_links[0].utilisation, 0.8);  // 4 s of the 5
  EXPECT_DOUBLE_EQ(figures.busiest_links[0].bytes_per_iteration, 40);
  EXPECT_DOUBLE_EQ(figures.bound_link_s, 4);
}

TEST(Bound, WarnsIfARunIsFaster) {
  TraceBuilder builder(1);
  builder.iterates(0, 0, 1).iterates(0, 1, 1);
  builder.trace().links = {{"wire", 10, 20}};  // 2 s for two iterations: exactly the bound
  EXPECT_TRUE(builder.report(1, 0).warnings.empty());
  builder.trace().links = {{"wire", 10, 30}};
  const Figures figures = builder.report(1, 0);
  ASSERT_EQ(figures.warnings.size(), 1U);
  expect_mentions(figures.warnings[0], {"bound", "1.5"});
}

TEST(Bound, OfComputationIsTheSlowestWorkers) {
  TraceBuilder builder(2);
  builder.iterates(0, 0, 1, 2).iterates(1, 0, 3);
  EXPECT_DOUBLE_EQ(builder.report(1, 0).bound_compute_s, 3);
}

TEST(Bound, IsOfTheWindowThatTheIterationIsOf) {
  // A worker that is slow in its warm-up only: from 8 s on it computes for 1 s of each 2.
  TraceBuilder builder(2);
  builder.apart().iterates(0, 0, 2).iterates(1, 0, 8);
  for (int i = 1; i < 9; ++i)
    builder.iterates(0, i, 1, 1);
  for (int i = 1; i < 6; ++i)
    builder.iterates(1, i, 1, 1);
  const Figures figures = builder.report(10, 1);
  EXPECT_DOUBLE_EQ(figures.iteration_mean_s, 2);
  EXPECT_DOUBLE_EQ(figures.bound_compute_s, 1);
  EXPECT_DOUBLE_EQ(figures.throughput_samples_per_s * figures.iteration_mean_s, 2 * 10);
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
  EXPECT_FALSE(figures.throughput_interval);  // of four rounds
  builder.iterates(0, 10, 1).iterates(1, 10, 1).iterates(0, 11, 1, 2).iterates(1, 11, 1, 2);
  EXPECT_NEAR(builder.report(10, 2).throughput_interval.value_or(1), 0, 1e-12);
}

// An `apply` row at 1 s of this worker's gradient.
Row applied(int bucket, std::int64_t version, std::int64_t read, int worker, int iteration) {
  return {.start_s = 1,
          .end_s = 1,
          .verb = "apply",
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
  builder.trace().rows.push_back(applied(0, 1, 0, 0, 0));  // nothing in between
  builder.trace().rows.push_back(applied(0, 2, 0, 1, 0));  // the first
  builder.trace().rows.push_back(applied(0, 3, 1, 0, 1));  // of worker 1's iterations it knew none
  builder.trace().rows.push_back(applied(1, 1, 0, 0, 0));  // of another bucket
  const Figures figures = builder.report(1, 0);
  EXPECT_EQ(figures.staleness_histogram, (std::map<std::int64_t, std::int64_t>{{0, 2}, {1, 2}}));
  EXPECT_EQ(figures.staleness_max, 1);
  EXPECT_DOUBLE_EQ(figures.staleness_mean, 2.0 / 4);
  EXPECT_DOUBLE_EQ(figures.staleness_updates_mean, 2.0 / 4);
  EXPECT_DOUBLE_EQ(figures.staleness_iterations_mean, 1.0 / 4);
  EXPECT_EQ(figures.updates, 3);  // of the parameters, not of every bucket
}

TEST(Staleness, CountsTheGradientsOfTheUpdatesInBetween) {
  // Updates of 3, 2 and 1 gradients. Those of one update are not stale by each other.
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

// 6 s of computation, then 4 s in which bytes move, on a link that is busy for a part of the run.
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

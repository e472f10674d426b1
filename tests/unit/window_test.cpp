// When iterations counted, and figures derived from that by hand.
#include "sim/window.h"

#include <cmath>
#include <gtest/gtest.h>

#include "sim/report/runs.h"

namespace syncline {
namespace {

// A worker whose iterations end at these times.
Progress worker(std::vector<double> counted_s) {
  return {.start_s = 0, .counted_s = std::move(counted_s)};
}

// An iteration every `seconds`, from 0 on.
Progress regular(double seconds, int iterations) {
  Progress progress;
  for (int i = 1; i <= iterations; ++i)
    progress.counted_s.push_back(i * seconds);
  return progress;
}

TEST(Iterations, CountByTheirPartInTheWindow) {
  EXPECT_DOUBLE_EQ(iterations_in({worker({2, 4, 8})}, {.from_s = 1, .to_s = 5}), 0.5 + 1 + 0.25);
  EXPECT_DOUBLE_EQ(iterations_in({regular(1, 9), regular(3, 3)}, {.from_s = 3, .to_s = 9}), 6 + 2);
}

TEST(WindowAfter, IsFromTheLastWarmUpToTheFirstEnd) {
  const Window window = window_after({regular(1, 9), regular(2, 9)}, 2);
  EXPECT_EQ(window.from_s, 4);
  EXPECT_EQ(window.to_s, 9);
  EXPECT_TRUE(window.warm);
  EXPECT_FALSE(window_after({regular(1, 3), regular(5, 3)}, 1).warm);
  EXPECT_FALSE(window_after({regular(1, 3), worker({})}, 1).warm);
}

// Once, a target met during warm-up left a window without an end, and figures that were NaN.
TEST(WindowAfter, IsFromTheStartWhereWarmUpWasNotEnded) {
  for (const auto& workers : {std::vector{regular(1, 3), regular(2, 1)},
                              std::vector{regular(1, 2), worker({})}, std::vector{regular(2, 1)}}) {
    const Window window = window_after(workers, 5);
    EXPECT_EQ(window.from_s, 0);
    EXPECT_EQ(window.to_s, 2);
    EXPECT_FALSE(window.warm);
  }
}

// Once, where workers begin one after the other and none is warm, the time before they began was
// waiting.
TEST(WindowAfter, WithoutWarmUpBeginsWithTheLastWorker) {
  Progress later = regular(1, 3);
  later.start_s = 0.5;
  for (const int warmup : {0, 5})
    EXPECT_EQ(window_after({regular(1, 3), later}, warmup).from_s, 0.5) << warmup;
  later.start_s = 4;
  EXPECT_EQ(window_after({regular(1, 3), later}, 5).from_s, 0) << "the other has ended";
}

// What iterations start may end after them: a window from the start of the run includes it; one
// after warm-up includes the same amount from the iterations before instead.
TEST(WindowAfter, FromTheStartHasWhatEndsAfterTheLastIteration) {
  Progress first = regular(1, 3), second = regular(1, 3);
  first.ended_s = 5;
  second.ended_s = 4;
  const Window window = window_after({first, second}, 0);
  EXPECT_EQ(window.to_s, 4);
  EXPECT_TRUE(window.warm);
  EXPECT_EQ(iterations_in({first, second}, window), 6);
  EXPECT_EQ(window_after({first, second}, 1).to_s, 3);
  EXPECT_EQ(window_after({first, second}, 9).to_s, 4) << "from the start after all";
  EXPECT_EQ(pace_of({first, second}, 3).ended_s, 4.5);
  EXPECT_FALSE(window_after({worker({}), worker({})}, 0).warm) << "and no figure of it is a number";
}

TEST(Interval, IsZeroWhereNothingVaries) {
  EXPECT_NEAR(interval_of({regular(1, 40)}, {.from_s = 0, .to_s = 40}).value(), 0, 1e-12);
}

TEST(Interval, NeedsTwentyIterationsOfAWorker) {
  EXPECT_FALSE(interval_of({regular(1, 19)}, {.from_s = 0, .to_s = 19}));
  EXPECT_TRUE(interval_of({regular(1, 20)}, {.from_s = 0, .to_s = 20}));
}

TEST(Interval, IsWiderWhereBatchesAreLikeTheirNeighbours) {
  // Batches of 10 s have 10 or 20 iterations: alternating, or the slow ones first.
  Progress in_turn;
  Progress in_order;
  for (int batch = 0; batch < 20; ++batch)
    for (int i = 1; i <= 20; ++i) {
      if (batch % 2 == 1 || i % 2 == 0)
        in_turn.counted_s.push_back(10 * batch + 0.5 * i);
      if (batch >= 10 || i % 2 == 0)
        in_order.counted_s.push_back(10 * batch + 0.5 * i);
    }
  const Window window{.from_s = 0, .to_s = 200};
  // Mean 15, deviation 5: 2.093 sqrt(500 / 19 / 20) / 15.
  EXPECT_NEAR(interval_of({in_turn}, window).value(), 0.1601, 1e-3);
  EXPECT_GT(interval_of({in_order}, window).value(), 0.5);
}

TEST(Halves, DifferByTheSecondLessTheFirst) {
  const Window window{.from_s = 0, .to_s = 20};
  EXPECT_NEAR(halves_differ({regular(1, 20)}, window), 0, 1e-12);
  // Ten iterations, then five.
  EXPECT_NEAR(halves_differ({worker({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20})}, window),
              -5 / 7.5, 1e-12);
}

TEST(Pace, IsTheMeanOfAllAtTheEndsOfRounds) {
  const Progress pace = pace_of({worker({1, 4, 5, 8, 9}), worker({1, 5, 6, 9})}, 2);
  EXPECT_EQ(pace.counted_s, (std::vector<double>{4.5, 8.5}));
}

TEST(Interval, OfRoundsIsStudentsOverThem) {
  // Rounds of 1, 2, 1, 2, 4 s: mean 2, deviation sqrt(6/4); neighbours are uncorrelated.
  const Progress pace = worker({1, 3, 4, 6, 10});
  const double expected = 2.776 * std::sqrt(1.5 / 5) / 2;
  EXPECT_NEAR(interval_of_rounds(pace, {.from_s = 0, .to_s = 10}).value(), expected, 1e-12);
  EXPECT_FALSE(interval_of_rounds(pace, {.from_s = 1, .to_s = 10}));  // four
  EXPECT_NEAR(halves_of_rounds_differ(pace, {.from_s = 0, .to_s = 10}),
              2 * (3 / 7.0 - 2 / 3.0) / (3 / 7.0 + 2 / 3.0), 1e-12);
}

TEST(Interval, IsWiderWhereSpeedChangesSlowly) {
  // 100 s of 2 iterations a second, then 100 s of 1.9, in batches that alternate by as much.
  Progress progress;
  for (int batch = 0; batch < 20; ++batch) {
    const double rate = (batch < 10 ? 2 : 1.9) + (batch % 2 == 0 ? 0.1 : -0.1);
    for (int i = 1; i <= 100; ++i)
      progress.counted_s.push_back((progress.counted_s.empty() ? 0 : progress.counted_s.back()) +
                                   1 / rate / 2);
  }
  const Window window{.from_s = 0, .to_s = progress.counted_s.back()};
  EXPECT_GT(stated_interval_of({progress}, window).value(), 0.02);
}

TEST(Interval, OfOneRunIsThatOfItsBatchesWherePlacesMoveFarInEach) {
  // In a batch of 100 s one worker has 100 iterations, the other 100 to 104: they drift apart by up
  // to 4.
  Progress drifts;
  double now_s = 0;
  for (int batch = 0; batch < 5; ++batch)
    for (int i = 1; i <= 100 + batch; ++i)
      drifts.counted_s.push_back(now_s += 100.0 / (100 + batch));
  const Window window{.from_s = 0, .to_s = std::min(500.0, drifts.counted_s.back())};  // rounding
  const std::vector<Progress> workers{regular(1, 500), drifts};
  EXPECT_DOUBLE_EQ(interval_of_one_run(workers, window).value(),
                   stated_interval_of(workers, window).value());
}

TEST(Interval, OfOneRunIsWiderWherePlacesAreNotForgottenInABatch) {
  // Of ten iterations in each of five batches, the second worker's take 1 s, 1.002 s, ...: in the
  // whole window its place moves by 0.2 of an iteration, by a little more in each batch.
  Progress drifts;
  double now_s = 0;
  for (int batch = 0; batch < 5; ++batch)
    for (int i = 0; i < 10; ++i)
      drifts.counted_s.push_back(now_s += 1 + 0.002 * batch);
  const Window window{.from_s = 0, .to_s = 50};
  const std::vector<Progress> workers{regular(1, 50), drifts};
  const double stated = stated_interval_of(workers, window).value();
  // In 10 s places move by 0 to 0.08 of an iteration; the mean square is 0.0021, so they are
  // forgotten after 0.16 / 0.0021 = 75 batches, and the spread of five is multiplied by sqrt(1.5 *
  // 75 * 5) = 24. The interval of the batches alone is already somewhat wider, because neighbours
  // are correlated.
  const double wider = interval_of_one_run(workers, window).value() / stated;
  EXPECT_GT(wider, 10);
  EXPECT_LT(wider, 30);
  // Places that only fluctuate around a constant are forgotten at once.
  Progress wavers;
  for (int i = 1; i <= 50; ++i)
    wavers.counted_s.push_back(i + (i % 2 == 0 ? 0.05 : -0.05));
  const std::vector<Progress> steady{regular(1, 50), wavers};
  EXPECT_DOUBLE_EQ(interval_of_one_run(steady, window).value(),
                   stated_interval_of(steady, window).value());
}

// InHAD's threshold keeps its workers together, so they drifted apart by rounding only: once, this
// was taken for places that are forgotten in 1e24 s, and the interval was 1e12.
TEST(Interval, OfOneRunIsThatOfItsBatchesWhereWorkersAreKeptTogether) {
  Progress slower;
  for (int i = 1; i <= 100; ++i)
    slower.counted_s.push_back(1.01 * i - 0.0001 * i * i);
  Progress rounded = slower;
  for (int i = 0; i < 100; ++i)
    rounded.counted_s[static_cast<std::size_t>(i)] += 1e-9 * i;
  const Window window{.from_s = 0, .to_s = 99};
  const std::vector<Progress> workers{slower, rounded};
  EXPECT_DOUBLE_EQ(interval_of_one_run(workers, window).value(),
                   stated_interval_of(workers, window).value());
  // If workers drift by 0.001 of an iteration per batch, five batches say nothing about the long
  // run.
  for (int i = 0; i < 100; ++i)
    rounded.counted_s[static_cast<std::size_t>(i)] += 5e-5 * i;
  EXPECT_FALSE(interval_of_one_run({slower, rounded}, window));
}

TEST(Student, IsTheTable) {
  EXPECT_EQ(student(2), 12.706);
  EXPECT_EQ(student(5), 2.776);
  EXPECT_NEAR(student(21), 2.086, 1e-3);
  EXPECT_NEAR(student(61), 2.000, 1e-3);
  EXPECT_NEAR(student(1001), 1.962, 1e-3);
}

TEST(Settled, DropsWhatIsUnlikeTheRest) {
  // Four a second for the first 10 s of 100, then one.
  Progress progress = regular(0.25, 40);
  for (int i = 11; i <= 100; ++i)
    progress.counted_s.push_back(i);
  const auto window = settled({progress}, {.from_s = 0, .to_s = 100});
  ASSERT_TRUE(window);
  EXPECT_NEAR(window->from_s, 10, 1e-9);
  EXPECT_EQ(window->to_s, 100);
  EXPECT_EQ(settled({regular(1, 100)}, {.from_s = 0, .to_s = 100})->from_s, 0);
}

TEST(Settled, IsUnknownIfOnlyTheEndDiffers) {
  Progress progress = regular(1, 55);
  for (int i = 1; i <= 180; ++i)
    progress.counted_s.push_back(55 + i * 0.25);
  EXPECT_FALSE(settled({progress}, {.from_s = 0, .to_s = 100}));
}

// The second of four iterations was dropped, and half of the fourth.
TEST(Progress, OfWhatIsDroppedIsNone) {
  Progress progress;
  for (const double part : {1.0, 0.0, 1.0, 0.5})
    progress.count(static_cast<double>(progress.counted_s.size() + 1), part);
  EXPECT_EQ(progress.applied, (std::vector<double>{1, 1, 2, 2.5}));
  for (const auto& [to_s, expected] : std::map<double, double>{
           {0.5, 0.5}, {1, 1}, {1.7, 1}, {2, 1}, {2.5, 1.5}, {3.5, 2.25}, {4, 2.5}, {9, 2.5}})
    EXPECT_NEAR(iterations_in({progress}, {.from_s = 0, .to_s = to_s}), expected, 1e-12) << to_s;
}

}  // namespace
}  // namespace syncline

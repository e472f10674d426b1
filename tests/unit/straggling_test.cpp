// The longest of varying times, against closed forms and against draws of jitter.
#include "sim/setup/straggling.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numbers>

#include "sim/setup/compute.h"
#include "tests/unit/errors.h"
#include "tests/unit/given.h"

namespace syncline {
namespace {

double below(double z) {
  return 0.5 * std::erfc(-z / std::sqrt(2));
}

// E max(X, Y) of two log-normal times (Clark 1961, for exponentials of normals).
double mean_of_two(const VaryingTime& x, const VaryingTime& y) {
  const double x2 = std::log1p(x.variation * x.variation);
  const double y2 = std::log1p(y.variation * y.variation);
  const double apart = std::log(x.mean_s) - x2 / 2 - std::log(y.mean_s) + y2 / 2;
  const double both = std::sqrt(x2 + y2);
  return x.mean_s * below((apart + x2) / both) + y.mean_s * below((y2 - apart) / both);
}

TEST(LongestOf, TwoTimesIsTheClosedForm) {
  for (const VaryingTime x : {VaryingTime{1, 0.05}, {1, 0.5}, {2e-3, 1.5}, {40, 0.2}})
    for (const VaryingTime y : {VaryingTime{1, 0.05}, {0.97, 0.03}, {2e-3, 0.9}, {100, 0}}) {
      if (y.variation > 0) {
        EXPECT_NEAR(longest_of({x, y}).mean_s / mean_of_two(x, y), 1, 1e-4);
      } else {
        EXPECT_GE(longest_of({x, y}).mean_s, 100);
      }
      EXPECT_EQ(longest_of({x, y}), longest_of({y, x}));
    }
}

TEST(LongestOf, OneTimeOrTimesWithoutVariationIsTheLongest) {
  EXPECT_EQ(longest_of({{3, 0.5}}), (VaryingTime{3, 0.5}));
  const VaryingTime constant = longest_of({{3, 0}, {5, 0}, {4, 0}});
  EXPECT_NEAR(constant.mean_s, 5, 1e-12);
  EXPECT_EQ(constant.variation, 0);
}

// 20,000 times the slowest of n workers by the draws of `jitter`: within four standard errors.
TEST(LongestOf, IsTheMeanOfJittersDraws) {
  for (const int workers : {3, 16, 200})
    for (const double variation : {0.036, 0.4}) {
      constexpr int iterations = 20'000;
      double sum = 0, squares = 0;
      for (int iteration = 0; iteration < iterations; ++iteration) {
        double longest = 0;
        for (int worker = 0; worker < workers; ++worker)
          longest = std::max(
              longest, (worker == 1 ? 0.9 : 1.0) * jitter_factor(variation, 7, worker, iteration));
        sum += longest;
        squares += longest * longest;
      }
      std::vector<VaryingTime> times(static_cast<std::size_t>(workers), {1, variation});
      times[1].mean_s = 0.9;
      const VaryingTime found = longest_of(times);
      const double mean = sum / iterations;
      const double deviation = std::sqrt(squares / iterations - mean * mean);
      EXPECT_NEAR(found.mean_s, mean, 4 * deviation / std::sqrt(iterations)) << workers;
      EXPECT_NEAR(found.variation * found.mean_s / deviation, 1, 0.04) << workers;
    }
}

// The largest of n normals, in standard deviations: 1 / sqrt(pi) of 2, 3.044 of 512 and 4.872 of
// 1,048,576.
TEST(LongestOf, GrowsWithTheLogarithmOfTheirNumber) {
  const auto deviations = [](int workers) {
    const std::vector<VaryingTime> times(static_cast<std::size_t>(workers), {1, 1e-3});
    return (longest_of(times).mean_s - 1) / 1e-3;
  };
  EXPECT_NEAR(deviations(2), 1 / std::sqrt(std::numbers::pi), 1e-3);
  EXPECT_NEAR(deviations(512), 3.044, 0.01);
  EXPECT_NEAR(deviations(1 << 20), 4.872, 0.02);
}

TEST(Straggling, IsForWorkersThatAllWaitAndWithoutJitter) {
  EXPECT_EQ(resolve(given({{"straggling", "0.05"}})).straggling, 0.05);
  EXPECT_EQ(
      resolve(given({{"straggling", "0.05"}, {"schedule", "ssp"}, {"staleness", "0"}})).straggling,
      0.05);
  for (const std::string schedule : {"asp", "ssp", "inhad", "backup", "gossip"})
    expect_mentions(error_of([&] {
                      resolve(given({{"straggling", "0.05"}, {"schedule", schedule}}));
                    }),
                    {"straggling = 0.05", "schedule " + schedule, "allowed is jitter"});
  expect_mentions(error_of([] {
                    resolve(given({{"straggling", "0.05"}, {"jitter", "0.1"}}));
                  }),
                  {"straggling = 0.05: jitter = 0.1", "allowed is one of both"});
  EXPECT_EQ(resolve(given({{"straggling", "0"}, {"jitter", "0.1"}})).jitter, 0.1);
}

}  // namespace
}  // namespace syncline

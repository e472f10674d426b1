// The closed form of a ring compared with its definition, step by step (sim/traffic/ring_time.h).
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

#include "sim/traffic/ring_time.h"

namespace syncline {
namespace {

double step_by_step(const std::vector<RingHop>& hops, int steps, double step_overhead_s) {
  const std::size_t n = hops.size();
  std::vector<double> injected_s(n, 0);
  std::vector<double> arrived_s(n, 0);
  for (int s = 0; s < steps; ++s) {
    const std::vector<double> before_s = arrived_s;
    for (std::size_t r = 0; r < n; ++r) {
      const double moved_s = before_s[(r + n - 1) % n] + hops[r].alone_s.value_or(hops[r].part_s);
      injected_s[r] =
          step_overhead_s + (s == 0 ? moved_s : std::max(moved_s, injected_s[r] + hops[r].part_s));
      arrived_s[r] = injected_s[r] + hops[r].latency_s;
    }
  }
  return std::ranges::max(arrived_s);
}

TEST(Ring, OfEqualHopsTakesStepsTimesOneStep) {
  const std::vector<RingHop> hops(6, {.latency_s = 2e-5, .part_s = 3e-4});
  EXPECT_NEAR(ring_seconds(hops, 10, 1e-5), 10 * (2e-5 + 3e-4 + 1e-5), 1e-15);
}

TEST(Ring, OfTinyPartsTakesTheLargestSumOfConsecutiveLatencies) {
  std::vector<RingHop> hops(8, {.latency_s = 3.4e-6, .part_s = 0});
  hops[3].latency_s = hops[7].latency_s = 14e-6;  // between two nodes of four
  EXPECT_NEAR(ring_seconds(hops, 14, 0), 4 * 14e-6 + 10 * 3.4e-6, 1e-15);
}

TEST(Ring, OfLargePartsIsInjectedAtTheSlowestHop) {
  std::vector<RingHop> hops(5, {.latency_s = 0, .part_s = 1e-3});
  hops[2].part_s = 1;
  EXPECT_NEAR(ring_seconds(hops, 8, 0), 8 * 1, 1e-12);  // starts at once
}

TEST(Ring, IsItsRecurrenceForAnyMixOfHops) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> any(0, 1);
  for (int trial = 0; trial < 2000; ++trial) {
    const auto n = 2 + random() % 12;
    const int steps = 1 + static_cast<int>(random() % (3 * n));
    const double scale = std::pow(10, 3 * any(random) - 2);  // parts relative to latencies
    std::vector<RingHop> hops;
    for (std::size_t i = 0; i < n; ++i)
      hops.push_back(
          {.latency_s = trial % 3 == 0 ? 1 + static_cast<double>(random() % 2) : any(random),
           .part_s =
               scale * (trial % 2 == 0 ? 1 + static_cast<double>(random() % 3) : any(random))});
    if (trial % 7 == 0)  // channels share some links
      for (RingHop& hop : hops)
        hop.alone_s = hop.part_s * (random() % 2 == 0 ? 1 : any(random));
    const double overhead_s = trial % 5 == 0 ? any(random) : 0;
    const double expected_s = step_by_step(hops, steps, overhead_s);
    ASSERT_NEAR(ring_seconds(hops, steps, overhead_s), expected_s, 1e-9 * expected_s)
        << n << " hops, " << steps << " steps";
  }
}

// With more different parts than the closed form distinguishes, it is slightly too long, never too
// short.
TEST(Ring, OfManyDifferentHopsIsNeverTooShort) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> any(0.5, 1);
  std::vector<RingHop> hops;
  for (int i = 0; i < 500; ++i)
    hops.push_back({.latency_s = any(random), .part_s = any(random)});
  const double expected_s = step_by_step(hops, 998, 0);
  EXPECT_GE(ring_seconds(hops, 998, 0), expected_s * (1 - 1e-12));
  EXPECT_LE(ring_seconds(hops, 998, 0), expected_s * 1.02);
}

}  // namespace
}  // namespace syncline

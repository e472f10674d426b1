// The prediction interval: a part of the simulated throughput, by the simulated part of perfect
// scaling.
#include "sim/report/prediction.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "tests/unit/given.h"

namespace syncline {
namespace {

Figures figures_with(double efficiency) {
  Figures figures{.worker_count = 8, .throughput_samples_per_s = 1000};
  figures.scaling_efficiency = efficiency;
  figures.iteration_mean_s = 0.25;
  figures.compute_s = 0.2;
  return figures;
}

void expect_one_interval_for_each_efficiency(const Scenario& bsp) {
  const auto rows = measured_parts(bsp);
  EXPECT_EQ(rows.front().efficiency_above, 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const MeasuredParts& row = rows[i];
    EXPECT_TRUE(0 < row.low && row.low < row.middle && row.middle < row.high) << i;
    EXPECT_GE(row.folders, 3) << i;
    const double next = i + 1 < rows.size() ? rows[i + 1].efficiency_above : 1.7;
    EXPECT_GT(next, row.efficiency_above);
    for (const double efficiency : {next, (row.efficiency_above + next) / 2}) {
      Figures figures = figures_with(efficiency);
      add_prediction(bsp, figures);
      EXPECT_EQ(figures.prediction_low_samples_per_s, 1000 * row.low) << efficiency;
      EXPECT_EQ(figures.prediction_high_samples_per_s, 1000 * row.high) << efficiency;
    }
  }
}

Scenario typical() {
  return resolve(given({{"framework", "horovod"}, {"reality", "typical"}}));
}

TEST(Prediction, HasOneIntervalForEachEfficiency) {
  const Scenario nominal = resolve(given({{"schedule", "bsp"}}));
  expect_one_interval_for_each_efficiency(nominal);
  EXPECT_NE(measured_parts(typical()).data(), measured_parts(nominal).data());
  expect_one_interval_for_each_efficiency(typical());
}

// The worse a simulated run scales, the more depends on what networks do not reach.
TEST(Prediction, IsLessCertainTheWorseARunScales) {
  for (const Scenario& scenario : {resolve(given({})), typical()}) {
    const auto rows = measured_parts(scenario);
    EXPECT_TRUE(std::ranges::is_sorted(rows, {}, &MeasuredParts::low));
    EXPECT_TRUE(std::ranges::is_sorted(rows, {}, &MeasuredParts::middle));
  }
}

TEST(Prediction, OfOneWorkerIsNone) {
  Figures alone = figures_with(1);
  alone.worker_count = 1;
  add_prediction(resolve(given({})), alone);
  EXPECT_FALSE(alone.prediction_low_samples_per_s);
  EXPECT_EQ(prediction_shown(alone), "");
  Figures two = figures_with(0.9);
  two.worker_count = 2;
  add_prediction(resolve(given({})), two);
  EXPECT_NE(prediction_shown(two), "");
}

// Workers that shard the optimizer's step, or compute again, lose nothing to a network by that.
TEST(Prediction, CountsShardingAndRecomputingAsPerfect) {
  EXPECT_EQ(share_of_perfect_scaling(resolve(given({{"schedule", "bsp"}})), figures_with(1.3)),
            1.3);
  EXPECT_EQ(share_of_perfect_scaling(resolve(given({{"schedule", "fsdp"}})), figures_with(1.3)),
            0.8);
  Figures again = figures_with(0.6);
  again.recomputed = 0.25;
  EXPECT_EQ(share_of_perfect_scaling(resolve(given({{"schedule", "bsp"}})), again), 0.8);
}

}  // namespace
}  // namespace syncline

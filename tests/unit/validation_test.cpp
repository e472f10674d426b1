#include "sim/study/validation.h"

#include <cmath>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

namespace syncline {
namespace {

// Perfect scaling predicts 100, 100 and 200 where 80, 100 and 160 were measured: 25, 0 and 25 %
// off.
TEST(Agreement, SaysWhatPerfectScalingAloneWouldScore) {
  std::vector<ValidationRow> rows;
  for (const auto& [measured, perfect] :
       std::vector<std::pair<double, double>>{{80, 100}, {100, 100}, {160, 200}})
    rows.push_back({.measured = measured, .simulated = measured, .perfect = perfect});
  rows.push_back({.fit = true, .measured = 1, .simulated = 1, .perfect = 100});
  EXPECT_NEAR(agreement(rows).perfect_median_error, 0.25, 1e-12);
  EXPECT_EQ(agreement(rows).median_error, 0);
}

TEST(KendallTau, IsOneForTheSameRankingAndMinusOneForTheReverse) {
  EXPECT_DOUBLE_EQ(kendall_tau({1, 2, 3, 4}, {10, 200, 201, 1e9}), 1);
  EXPECT_DOUBLE_EQ(kendall_tau({1, 2, 3, 4}, {8, 7, 6, 5}), -1);
}

TEST(KendallTau, CountsPairs) {
  // Of the six pairs only (2, 3) is reversed: (5 - 1) / 6.
  EXPECT_DOUBLE_EQ(kendall_tau({1, 2, 3, 4}, {1, 3, 2, 4}), 4.0 / 6);
  // (1,4), (1,3) and (1,2) are reversed, the others are not: (3 - 3) / 6.
  EXPECT_DOUBLE_EQ(kendall_tau({1, 2, 3, 4}, {4, 1, 2, 3}), 0);
}

TEST(KendallTau, AllowsForTies) {
  // Pairs: (1,2) is a tie in a, (1,3) and (2,3) have the same order: 2 / sqrt((3 - 1) * 3). Once,
  // the last bit of two equal answers changed the README's figure with SimGrid's version.
  EXPECT_DOUBLE_EQ(kendall_tau({2, 1, 3}, {1, 1 + 1e-12, 2}), kendall_tau({2, 1, 3}, {1, 1, 2}));
  EXPECT_DOUBLE_EQ(kendall_tau({1, 1, 2}, {1, 2, 3}), 2 / std::sqrt(6.0));
  // A tie in both: 2 / sqrt(2 * 2).
  EXPECT_DOUBLE_EQ(kendall_tau({1, 1, 2}, {5, 5, 9}), 1);
  // Three pairs have the same order, one is reversed; one is a tie in a, one in b.
  EXPECT_DOUBLE_EQ(kendall_tau({1, 2, 2, 3}, {1, 3, 2, 2}), (3.0 - 1) / std::sqrt(5.0 * 5));
}

TEST(KendallTau, DoesNotDependOnUnitsOrOnWhichIsFirst) {
  const std::vector<double> a{3, 1, 4, 1, 5, 9, 2, 6};
  const std::vector<double> b{2, 7, 1, 8, 2, 8, 1, 8};
  std::vector<double> scaled = b;
  for (double& value : scaled)
    value = 3 * value + 100;
  EXPECT_DOUBLE_EQ(kendall_tau(a, b), kendall_tau(b, a));
  EXPECT_DOUBLE_EQ(kendall_tau(a, b), kendall_tau(a, scaled));
}

TEST(KendallTau, IsZeroWithoutARanking) {
  EXPECT_EQ(kendall_tau({}, {}), 0);
  EXPECT_EQ(kendall_tau({1}, {1}), 0);
  EXPECT_EQ(kendall_tau({1, 1, 1}, {1, 2, 3}), 0);
}

ValidationRow row(double measured, double simulated, bool fit = false) {
  return {.folder = "", .label = "", .fit = fit, .measured = measured, .simulated = simulated};
}

TEST(Agreement, IsOverReportRowsOnly) {
  // Errors +10 %, -20 %, +5 %; the fit row is far off and first in its ranking.
  const Agreement figures =
      agreement({row(100, 110), row(200, 160), row(400, 420), row(1, 1000, true)});
  EXPECT_EQ(figures.rows, 3);
  EXPECT_NEAR(figures.median_error, 0.1, 1e-12);
  EXPECT_NEAR(figures.worst_error, 0.2, 1e-12);
  EXPECT_DOUBLE_EQ(figures.tau, 1);
}

TEST(Agreement, MedianOfAnEvenNumberIsTheMiddleOfTwo) {
  const Agreement figures = agreement({row(100, 110), row(100, 70), row(100, 100), row(100, 98)});
  EXPECT_NEAR(figures.median_error, 0.06, 1e-12);  // of 0, 2, 10 and 30 %
  EXPECT_NEAR(figures.worst_error, 0.3, 1e-12);
}

TEST(Agreement, OfNoRowsIsZero) {
  EXPECT_EQ(agreement({}).rows, 0);
  EXPECT_EQ(agreement({row(1, 2, true)}).rows, 0);
}

}  // namespace
}  // namespace syncline

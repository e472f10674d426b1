// How many bytes a link carries under its profile.
#include "sim/bandwidth.h"

#include <gtest/gtest.h>
#include <utility>
#include <vector>

namespace syncline {
namespace {

// 5 B/s until 2 s; then 10 B/s for 3 s and 20 B/s for 1 s, repeating.
Bandwidth made() {
  Bandwidth bandwidth(5);
  bandwidth.changes = {{2, 10}, {5, 20}};
  bandwidth.period_s = 4;
  return bandwidth;
}

TEST(Bandwidth, IsANumberWhereNothingChanges) {
  const Bandwidth bandwidth(8);
  EXPECT_EQ(bandwidth.most_Bps(), 8);
  EXPECT_EQ(bandwidth.mean_Bps(), 8);
  EXPECT_EQ(bandwidth.carried_bytes(3), 24);
  EXPECT_EQ(bandwidth.seconds_for(24), 3);
  EXPECT_EQ(bandwidth.part_used(12, 1, 4), 0.5);
}

TEST(Bandwidth, OfAProfileIsItsIntegral) {
  const Bandwidth bandwidth = made();
  EXPECT_EQ(bandwidth.most_Bps(), 20);
  EXPECT_EQ(bandwidth.mean_Bps(), 50.0 / 4);
  for (const auto& [until_s, bytes] : std::vector<std::pair<double, double>>{
           {0, 0}, {1, 5}, {2, 10}, {4, 30}, {5, 40}, {6, 60}, {7, 70}, {10, 110}, {9.5, 100}}) {
    EXPECT_DOUBLE_EQ(bandwidth.carried_bytes(until_s), bytes) << until_s;
    EXPECT_NEAR(bandwidth.seconds_for(bytes), until_s, 1e-12) << bytes;
  }
  EXPECT_DOUBLE_EQ(bandwidth.part_used(15, 5, 7), 0.5);
  EXPECT_DOUBLE_EQ(bandwidth.times(2).carried_bytes(6), 120);
}

TEST(Bandwidth, StaysAsItWasLastWhereNothingRepeats) {
  Bandwidth bandwidth = made();
  bandwidth.period_s = 0;
  EXPECT_EQ(bandwidth.mean_Bps(), 20);
  EXPECT_DOUBLE_EQ(bandwidth.carried_bytes(100), 10 + 30 + 95 * 20);
  EXPECT_DOUBLE_EQ(bandwidth.seconds_for(10 + 30 + 95 * 20), 100);
}

// If a profile's first row is at 0 s, the link never has its own bandwidth.
TEST(Bandwidth, HasNoBeginningOfItsOwnWhereAProfileBeginsAtOnce) {
  Bandwidth bandwidth(1000);
  bandwidth.changes = {{0, 10}};
  EXPECT_EQ(bandwidth.most_Bps(), 10);
  EXPECT_EQ(bandwidth.carried_bytes(2), 20);
}

}  // namespace
}  // namespace syncline

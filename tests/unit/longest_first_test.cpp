// Which cell of a sweep starts next, and the progress line.
#include "sim/sweep/longest_first.h"

#include <gtest/gtest.h>
#include <map>
#include <vector>

#include "sim/sweep/process.h"
#include "sim/sweep/progress.h"

namespace syncline {
namespace {

// The order in which cells that take these seconds end, with `at_once` processes; 0 s means short.
std::vector<std::size_t> order_of(const std::vector<double>& seconds, int at_once) {
  LongestFirst turns(seconds.size(), at_once);
  std::multimap<double, LongestFirst::Turn> running;  // by end time
  std::vector<std::size_t> order;
  double now_s = 0;
  for (;;) {
    while (running.size() < static_cast<std::size_t>(at_once)) {
      const auto turn = turns.next();
      if (!turn)
        break;
      running.emplace(now_s + (turn->may_wait ? 0.01 : seconds[turn->cell]), *turn);
    }
    if (running.empty())
      return order;
    const auto [end_s, turn] = *running.begin();
    running.erase(running.begin());
    now_s = end_s;
    if (turn.may_wait)
      turns.looked();
    if (turn.may_wait && seconds[turn.cell] > 0)
      turns.found_long(turn.cell, seconds[turn.cell]);
    else
      order.push_back(turn.cell);
  }
}

using Order = std::vector<std::size_t>;

TEST(LongestFirst, AreTheirsWhereNothingWaits) {
  EXPECT_EQ(order_of({3, 1, 2}, 1), (Order{0, 1, 2}));
  EXPECT_EQ(order_of({3, 1, 2}, 3), (Order{1, 2, 0}));
  EXPECT_EQ(order_of({}, 2), Order{});
}

TEST(LongestFirst, OfShortCellsAreOneEach) {
  EXPECT_EQ(order_of(std::vector<double>(6, 0), 2), (Order{5, 4, 3, 2, 1, 0}));
}

TEST(LongestFirst, OfLongCellsComeFirst) {
  // The last cell is found and starts first; beside it, once all have been looked at, the longest.
  EXPECT_EQ(order_of({9, 1, 7, 2, 8}, 2), (Order{4, 0, 3, 1, 2}));
}

TEST(LongestFirst, LeaveAProcessLookingWhileOthersSimulate) {
  // Cell 3 takes an hour; the short ones before it do not wait for it.
  EXPECT_EQ(order_of({0, 0, 0, 3600, 0}, 2), (Order{4, 2, 1, 0, 3}));
}

TEST(ProgressOnATerminal, IsALineThatIsRewritten) {
  ProgressLine progress(40, true);
  EXPECT_EQ(progress.text(0, 0), "\r\033[K0 of 40 cells in 0 s");
  EXPECT_EQ(progress.text(10, 2), "\r\033[K10 of 40 cells in 2 s");
  EXPECT_EQ(progress.clearing(), "\r\033[K");
}

TEST(ProgressInALog, IsALineEveryFewSecondsOfALongRun) {
  ProgressLine progress(40, false);
  EXPECT_EQ(progress.text(0, 0), "");
  EXPECT_EQ(progress.text(30, 9.9), "");
  EXPECT_EQ(progress.text(12, 12), "12 of 40 cells in 12 s\n");
  EXPECT_EQ(progress.text(13, 12.5), "");
  EXPECT_EQ(progress.text(20, 17), "20 of 40 cells in 17 s\n");
  EXPECT_EQ(progress.text(40, 60), "");  // the table follows
  EXPECT_EQ(progress.clearing(), "");
}

TEST(Progress, SaysWhereACellThatLearnsHasCome) {
  ProgressLine one(1, true);
  EXPECT_EQ(one.text(0, 3, "loss 0.5 at 2 simulated seconds"),
            "\r\033[K0 of 1 cells in 3 s; loss 0.5 at 2 simulated seconds");
  EXPECT_EQ(one.clearing(), "\r\033[K");
  ProgressLine log(3, false);
  EXPECT_EQ(log.text(1, 11, "loss 0.5 at 2 simulated seconds"),
            "1 of 3 cells in 11 s; loss 0.5 at 2 simulated seconds\n");
}

TEST(Progress, IsHeardFromTheProcessThatLearns) {
  LatestLoss latest;
  EXPECT_EQ(latest.text(), "");
  run_child([&] {
    latest.say(12.345, 0.54321);
    return std::string();
  });
  EXPECT_EQ(latest.text(), "loss 0.543 at 12.35 simulated seconds");
}

TEST(Progress, OfOneCellIsNotShown) {
  for (const bool terminal : {true, false})
    EXPECT_EQ(ProgressLine(1, terminal).text(0, 100) + ProgressLine(1, terminal).clearing(), "");
}

}  // namespace
}  // namespace syncline

// Time grows linearly with the number of rows: twice as many take twice as long, not four times. In
// these tests sixteen times as many rows may take 64 times as long; walking the list for each of
// its rows would take 256 times.
#include <ctime>
#include <gtest/gtest.h>

#include "sim/gate/answer.h"
#include "sim/gate/bless.h"
#include "sim/gate/folder.h"
#include "sim/gate/history.h"
#include "sim/platform/platform_file.h"
#include "sim/study/ordered_lists.h"
#include "tests/unit/checked_platform.h"
#include "tests/unit/folder.h"

namespace syncline {
namespace {

// Ticks of this process's CPU time.
template <class Work>
double ticks_of(Work work) {
  const std::clock_t began = std::clock();
  work();
  return static_cast<double>(std::clock() - began);
}

constexpr int few = 1000;
constexpr double times_as_many = 16;

// Times the work that `work_of` makes for a number of rows.
template <class WorkOf>
void expect_linear(WorkOf work_of) {
  constexpr double shortest = 2e-3 * CLOCKS_PER_SEC;  // below it rounding dominates
  const double of_few = std::max(ticks_of(work_of(few)), shortest);
  const double of_many = ticks_of(work_of(static_cast<int>(few * times_as_many)));
  EXPECT_LT(of_many, 4 * times_as_many * of_few) << of_few << " ticks of the few";
}

Expectation row_of(const std::string& cell) {
  return {.cell = cell,
          .figure = "throughput_samples_per_s",
          .expected = "1",
          .tolerance = 1,
          .because = "of " + cell};
}

ExpectedFile expected_of(int rows) {
  ExpectedFile expected;
  for (int i = 0; i < rows; ++i) {
    const std::string cell = "a/" + std::to_string(i);
    expected.rows.push_back(row_of(cell));
    expected.rows.push_back({.cell = cell, .figure = "options", .expected = "x"});
  }
  return expected;
}

CheckFolder folder_of(int cells) {
  CheckFolder folder{.path = "", .expected = {}, .cells = {}, .without_row = {}};
  for (int i = 0; i < cells; ++i) {
    folder.cells.emplace_back().name = "a/" + std::to_string(i);
    folder.cells.back().result.figures.throughput_samples_per_s = 1;
  }
  return folder;
}

TEST(Growth, OfVerdictsOnCellsThatAreGoneIsThatOfTheirNumber) {
  expect_linear([](int rows) {
    return [expected = expected_of(rows)] {
      const std::vector<Verdict> verdicts = judge(folder_of(3), expected);
      EXPECT_EQ(verdicts.size(), expected.rows.size() / 2);
      const Answer answer{.title = "gone", .verdicts = verdicts};
      answer_markdown(answer);
      answer_text(answer);
    };
  });
}

TEST(Growth, OfVerdictsOnCellsThatAreThereIsThatOfTheirNumber) {
  expect_linear([](int rows) {
    return [expected = expected_of(rows), folder = folder_of(rows)] {
      EXPECT_EQ(judge(folder, expected).size(), expected.rows.size() / 2);
    };
  });
}

TEST(Growth, OfBlessingIsThatOfTheRows) {
  expect_linear([](int rows) {
    CheckFolder folder = folder_of(3);
    folder.expected = expected_of(rows);
    return [folder] {
      EXPECT_EQ(blessed(folder, "so").sentences.size(), folder.expected.rows.size() / 2 - 3);
    };
  });
}

TEST(Growth, OfWhatWasReplacedIsThatOfTheRows) {
  expect_linear([](int rows) {
    std::vector<Expectation> before, now;
    for (int i = 0; i < rows; ++i) {
      before.push_back(row_of("a/" + std::to_string(i)));
      now.push_back(row_of("a/" + std::to_string(i)));
      now.back().tolerance = 2;
    }
    return [before, now] {
      BaseComparison against{.base = "base"};
      against.replaced = replaced_between(before, now);
      EXPECT_EQ(against.replaced.size(), now.size());
      answer_text({.title = "replaced", .verdicts = {}, .against = against});
    };
  });
}

History history_of(int commits) {
  History history;
  for (int i = 0; i < commits; ++i)
    history.push_back({"commit" + std::to_string(i), "a/" + std::to_string(i % 300), "loss", 1});
  return history;
}

TEST(Growth, OfAHistoryIsThatOfItsCommits) {
  expect_linear([](int commits) {
    return [history = history_of(commits)] {
      EXPECT_EQ(commits_of(history).size(), history.size());
      EXPECT_EQ(lines_of(history).size(), 300U);
      history_charts(history);
    };
  });
}

TEST(Growth, OfACommitThatIsAddedToAHistoryIsThatOfItsCells) {
  expect_linear([](int rows) {
    std::vector<Verdict> verdicts;
    for (int i = 0; i < rows; ++i)
      verdicts.push_back({.cell = "a/" + std::to_string(i), .figure = "loss", .got = 1});
    return [verdicts, history = history_of(rows)] {
      EXPECT_EQ(with_commit(history, "new", verdicts).size(), history.size() + verdicts.size());
    };
  });
}

// A node's eight GPUs have 90 links on their routes, and SimGrid searches one node after the other
// for each of them: with twice as many nodes, four times as often.
TEST(Growth, OfLoadingAPlatformIsThatOfTheZonesThatAreAskedForItsLinks) {
  const double of_few = read_platform("dgx:nodes=400").load_s;
  const double of_many = read_platform("dgx:nodes=800").load_s;
  EXPECT_GT(of_many, 3.5 * of_few);
  EXPECT_LT(of_many, 4.5 * of_few);
}

TEST(Growth, OfLoadingOneZoneIsThatOfItsElements) {
  const TemporaryFolder folder;
  const auto load_s = [&](int hosts) {
    std::string all, links, routes;
    for (int i = 0; i < hosts; ++i) {
      const std::string name = "h" + std::to_string(i);
      all += "<host id=\"" + name + "\" speed=\"1Tf\"/>\n";
      links += "<link id=\"l" + name + "\" bandwidth=\"1GBps\" latency=\"1us\"/>\n";
      routes +=
          "<route src=\"" + name + "\" dst=\"switch\"><link_ctn id=\"l" + name + "\"/></route>\n";
    }
    const std::string path = folder.write(
        "p.xml",
        "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM "
        "\"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n<zone id=\"z\" "
        "routing=\"Dijkstra\">\n" +
            all + "<router id=\"switch\"/>\n" + links + routes + "</zone>\n</platform>\n");
    return check_platform(path).load_s;
  };
  EXPECT_NEAR(load_s(400), 2 * load_s(200), 0.05 * load_s(400));
}

TEST(LongLists, HaveTheOrderInWhichTheirElementsWereFound) {
  LongList list(&VerdictGroup::cause);
  for (const char* cause : {"b", "a", "b", "c", "a"})
    list.found_or_added(cause).verdicts.push_back(nullptr);
  ASSERT_EQ(list.all.size(), 3U);
  EXPECT_EQ(list.all[0].cause, "b");
  EXPECT_EQ(list.all[0].verdicts.size(), 2U);
  EXPECT_EQ(list.all[1].cause, "a");
  EXPECT_EQ(list.place_of("c"), 2U);
  EXPECT_EQ(list.place_of("d"), 3U);
}

}  // namespace
}  // namespace syncline

// What `check --bless` writes, tolerances and rows of learning, and what it reports about the rest.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kernels/io/text.h"
#include "sim/gate/expectation.h"
#include "tests/program/checked_folder.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

class Bless : public CheckedFolder {
 protected:
  Ended bless(const std::string& because = "now") const {
    return run({"--bless", "--because", because});
  }
  Expectation row(const std::string& cell, const std::string& figure) const {
    for (const Expectation& one : read_expected(folder_.path("c/expected.csv")).rows)
      if (one.cell == cell && one.figure == figure)
        return one;
    ADD_FAILURE() << "no row of " << cell << ", " << figure;
    return {};
  }
  Json figures_of(const std::string& file) const {
    const Ended ended = run_program({"run", "c/" + file, "--json"}, folder_.path());
    return Json::parse(ended.out)["cells"][0]["result"]["figures"];
  }
  static std::string jittering(const std::string& more) {
    return with_change(check_settings, "jitter = 0\n", "jitter = 0.3\n") + more;
  }
  void learn(const std::string& more) const {
    folder_.write("c/learns.cfg", check_settings + "learn = digits\nlearning-rate = 0.2\nbatch = " +
                                      "32\niterations = 60\n" + more);
  }
};

TEST_F(Bless, WritesAToleranceOfAtLeastTheCellsOwnInterval) {
  folder_.write("c/jitters.cfg", jittering("repeats = 1\niterations = 40\n"));
  EXPECT_EQ(bless().code, 0);
  const Json figures = figures_of("jitters.cfg");
  const double interval = figures["throughput_interval"];
  ASSERT_GT(interval, 0.001);
  const double tolerance = *row("jitters", "throughput_samples_per_s").tolerance;
  EXPECT_GE(tolerance, interval);
  EXPECT_GE(tolerance, std::abs(figures["halves_differ"].get<double>()) / 2);
  EXPECT_EQ(row("ring", "throughput_samples_per_s").tolerance, 0.001);
}

// Once, every tolerance was 0.1 %, and 3 of 10 seeds moved the cell by more.
TEST_F(Bless, OfACellThatJittersHoldsForOtherSeeds) {
  folder_.write("c/jitters.cfg", jittering(""));
  EXPECT_EQ(bless().code, 0);
  int moved = 0;
  for (int seed = 2; seed <= 11; ++seed) {
    edit("c/jitters.cfg", seed == 2 ? "seed = 1\n" : fmt::format("seed = {}\n", seed - 1),
         fmt::format("seed = {}\n", seed));
    moved += run().code;
  }
  EXPECT_LE(moved, 1);
}

std::string meets_by_chance(const std::string& schedule, int seed) {
  return with_change(with_change(check_settings, "jitter = 0\n", "jitter = 0.1\n"), "seed = 1\n",
                     fmt::format("seed = {}\n", seed)) +
         "max-iterations = 40\nschedule = " + schedule + "\n";
}

// Each cell is five runs, and the tolerance is three times their interval: two such means differ by
// more once in 200 times.
TEST_F(Bless, OfWorkersThatMeetByChanceHoldsForOtherSeeds) {
  const std::vector<std::string> schedules{"asp", "ssp", "inhad"};
  const auto write = [&](int seed) {
    for (const std::string& schedule : schedules)
      folder_.write("c/" + schedule + ".cfg", meets_by_chance(schedule, seed));
  };
  write(1);
  EXPECT_EQ(bless().code, 0);
  for (const std::string& schedule : schedules) {
    const Json figures = figures_of(schedule + ".cfg");
    EXPECT_EQ(figures["runs"], 5) << schedule;
    EXPECT_GE(*row(schedule, "throughput_samples_per_s").tolerance,
              3 * figures["throughput_interval"].get<double>())
        << schedule;
  }
  for (int seed = 2; seed <= 4; ++seed) {
    write(seed);
    EXPECT_EQ(run().code, 0) << seed << run().out;
  }
}

// Once, 36 us of latency moved a cell by 2 %, and computation was blamed.
TEST_F(Bless, AMoveThatAnotherSeedMakesTooIsToldAsChance) {
  folder_.write("c/asp.cfg", meets_by_chance("asp", 1));
  EXPECT_EQ(bless().code, 0);
  std::string text = text_of(folder_.path("c/expected.csv"));
  const Expectation blessed = row("asp", "throughput_samples_per_s");
  const std::size_t at = text.find("asp,throughput_samples_per_s,");
  text.replace(at, text.find('\n', at) - at,
               "asp,throughput_samples_per_s," + blessed.expected + ",1e-9,,,mine");
  folder_.write("c/expected.csv", text);
  edit("c/platform.xml", "latency=\"10us\"", "latency=\"11us\"");
  const Ended ended = run();
  EXPECT_EQ(ended.code, 1);
  expect_mentions(ended.out,
                  {"chance: another seed moves it by up to", "changed: the platform file"});
  EXPECT_EQ(ended.out.find("moved by"), std::string::npos) << ended.out;
}

TEST_F(Bless, WritesRowsOfWhatIsLearned) {
  learn("schedule = asp\nuntil = accuracy:0.8\n");
  EXPECT_EQ(bless().code, 0);
  for (const std::string figure : {"loss", "accuracy", "target_s"}) {
    const Expectation expected = row("learns", figure);
    EXPECT_EQ(number_in(expected.expected), figures_of("learns.cfg")[figure].get<double>());
    EXPECT_GE(expected.tolerance.value_or(0), figure == "target_s" ? 0.001 : 0.02);
  }
  expect_mentions(run().out,
                  {"learns  loss", "learns  accuracy", "learns  target_s", "7 of 7 as expected"});
}

TEST_F(Bless, SaysWhichFigureOfLearningHasNoRow) {
  learn("schedule = asp\nuntil = accuracy:0.999\n");
  const Ended ended = bless();
  expect_mentions(ended.out, {"blessed: learns: no row for target_s: accuracy 0.999 was missed"});
}

// Files blessed before learning had rows.
TEST_F(Bless, AddsRowsOfLearningAndSaysSo) {
  learn("");
  EXPECT_EQ(bless().code, 0);
  std::string without;
  for (const std::string& line : split(text_of(folder_.path("c/expected.csv")), '\n'))
    if (!line.starts_with("learns,loss,") && !line.starts_with("learns,accuracy,"))
      without += line + "\n";
  folder_.write("c/expected.csv", without);
  expect_mentions(bless().out, {"blessed: learns: what it learns had no row: loss has one now",
                                "accuracy has one now"});
  EXPECT_TRUE(row("learns", "loss").is_judged());
}

TEST_F(Bless, SaysThatACellIsNotSteady) {
  folder_.write("c/speed.txt", "0 1\n0.3 0.4\n");
  folder_.write("c/slows.xml", with_change(checked_platform(), "id=\"a\" speed=\"1Tf\"",
                                           "id=\"a\" speed=\"1Tf\" speed_file=\"speed.txt\""));
  folder_.write("c/slows.cfg",
                with_change(with_change(check_settings, "efficiency = 1", "efficiency = 0.1"),
                            "platform.xml", "slows.xml") +
                    "iterations = 15\n");
  const Ended ended = bless();
  EXPECT_EQ(ended.code, 0) << ended.err;
  expect_mentions(ended.out, {"blessed: slows: not steady: the second half of its window is",
                              "slower than the first", "samples/s are known to"});
  EXPECT_GT(*row("slows", "throughput_samples_per_s").tolerance, 0.015);
}

TEST_F(Bless, WidensAToleranceThatIsNarrowerThanTheCellIsKnownAndSaysSo) {
  folder_.write("c/jitters.cfg", jittering("repeats = 1\niterations = 40\n"));
  EXPECT_EQ(bless().code, 0);
  const double own = *row("jitters", "throughput_samples_per_s").tolerance;
  std::string text = text_of(folder_.path("c/expected.csv"));
  const std::size_t at = text.find("jitters,throughput_samples_per_s,");
  text.replace(at, text.find('\n', at) - at, "jitters,throughput_samples_per_s,1,0.0001,,,mine");
  folder_.write("c/expected.csv", text);
  expect_mentions(bless().out,
                  {"blessed: jitters: throughput_samples_per_s moves with another seed by up to",
                   "its tolerance was 0.01 %"});
  EXPECT_EQ(row("jitters", "throughput_samples_per_s").tolerance, own);
}

TEST_F(Bless, SaysWhatItHasWritten) {
  expect_mentions(bless().out, {"c/expected.csv has not changed: 3 cells, 3 figures expected, "});
  folder_.write("g/ring.cfg", "platform = two-hosts\nmodel = resnet20\nthroughput = 100\n");
  const Ended ended =
      run_program({"check", "g", "--bless", "--because", "first figures"}, folder_.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  expect_mentions(ended.out, {"\nwrote g/expected.csv: 1 cell, 1 figure expected, ", " notes\n"});
}

// Once, rows disappeared silently.
TEST_F(Bless, SaysWhichRowsAreGone) {
  folder_.write("c/expected.csv", expected_ + "ssp,staleness_max,,,,9,it stays young\n");
  std::filesystem::remove(folder_.path("c/ssp.cfg"));
  expect_mentions(bless().out,
                  {"blessed: ssp: is gone, and its rows with it: throughput_samples_per_s ",
                   " and staleness_max at most 9"});
  EXPECT_EQ(text_of(folder_.path("c/expected.csv")).find("\nssp,"), std::string::npos);
}

// Once, only comments above the column names were kept.
TEST_F(Bless, KeepsEveryComment) {
  std::string text = "# at the top\n" + expected_;
  text =
      with_change(text, "\nring,throughput", "\n# of the ring\n# and its switch\nring,throughput");
  text = with_change(text, "\nring,waiting_s", "\n# of a note\nring,waiting_s");
  text = with_change(text, "\nssp,throughput", "\n# of servers\nssp,throughput") + "# at the end\n";
  folder_.write("c/expected.csv", text);
  std::filesystem::remove(folder_.path("c/ssp.cfg"));
  EXPECT_EQ(bless().code, 0);
  const std::string now = text_of(folder_.path("c/expected.csv"));
  expect_mentions(now, {"# at the top\ncell,figure", "# of the ring\n# and its switch\n",
                        "# of a note\n", "# of servers\n", "# at the end\n"});
  EXPECT_EQ(bless().code, 0);
  EXPECT_EQ(text_of(folder_.path("c/expected.csv")), now);
}

// Once, `check` refused a file that it had written itself.
TEST_F(Bless, RefusesAReasonThatCheckWouldNotRead) {
  edit("c/topk.cfg", "density = 0.01", "density = 0.05");
  const Ended ended = bless(std::string(25'000, 'x'));
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err, "syncline: --because: 25000 bytes: allowed are up to 1000\n");
  EXPECT_EQ(text_of(folder_.path("c/expected.csv")), expected_);
  EXPECT_EQ(bless(std::string(1000, 'x')).code, 0);
  EXPECT_EQ(run().code, 0);
}

TEST_F(Bless, RefusesAFileWhoseNameHasBlanksAtItsEnds) {
  for (const std::string name : {" ring", "ring ", "\tring"}) {
    folder_.write("c/" + name + ".cfg", text_of(folder_.path("c/ring.cfg")));
    const Ended ended = bless();
    EXPECT_EQ(ended.code, 2);
    EXPECT_EQ(lines_in(ended.err), 1U);
    expect_mentions(ended.err, {"a name that no row of expected.csv can have"});
    EXPECT_EQ(text_of(folder_.path("c/expected.csv")), expected_);
    std::filesystem::remove(folder_.path("c/" + name + ".cfg"));
  }
}

// The program has read the file and will write it again.
TEST_F(Bless, LosesNothingThatIsWrittenMeanwhile) {
  edit("c/platform.xml", "id=\"a-nic\" bandwidth=\"1GBps\"", "id=\"a-nic\" bandwidth=\"0.5GBps\"");
  const Program program({"check", "c", "--bless", "--because", "slower"}, folder_.path());
  program.wait_for_child();
  const std::string edited = "# mine\n" + expected_;
  folder_.write("c/expected.csv", edited);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 2) << ended.out;
  EXPECT_EQ(ended.err,
            "syncline: c/expected.csv: has changed while cells were simulated: allowed is --bless "
            "again\n");
  EXPECT_EQ(text_of(folder_.path("c/expected.csv")), edited);
  EXPECT_EQ(bless("slower").code, 0);
  const std::string blessed = text_of(folder_.path("c/expected.csv"));
  EXPECT_TRUE(blessed.starts_with("# mine\n"));
  expect_mentions(blessed, {",slower\n"});
}

}  // namespace
}  // namespace syncline

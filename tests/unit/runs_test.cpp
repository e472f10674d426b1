// Several runs of a cell: their mean, and how well it is known.
#include "sim/report/runs.h"

#include <cmath>
#include <gtest/gtest.h>
#include <set>

#include "sim/report/result_json.h"
#include "sim/setup/repeated_runs.h"
#include "tests/unit/errors.h"
#include "tests/unit/made_results.h"

namespace syncline {
namespace {

// A run with this throughput and this interval of its own.
Figures run(double throughput, double interval = 0.001) {
  Figures figures;
  figures.throughput_samples_per_s = throughput;
  figures.iteration_mean_s = 100 / throughput;
  figures.throughput_interval = interval;
  return figures;
}

// The mean of five runs has an interval of 2.776 / 1.96 / sqrt(5) = 0.633 of each run's.
TEST(Runs, EachMustBeKnownOnlyAsWellAsTheirMeanNeeds) {
  EXPECT_DOUBLE_EQ(interval_of_each(0.01, 1), 0.01);
  EXPECT_DOUBLE_EQ(interval_of_each(0.01, 2), 0.01);
  EXPECT_DOUBLE_EQ(interval_of_each(0.01, 3), 0.01);  // 4.303 / 1.96 / sqrt(3) = 1.27
  EXPECT_NEAR(interval_of_each(0.01, 5), 0.01 / 0.6334, 1e-5);
  EXPECT_NEAR(interval_of_each(0.01, 20), 0.01 * std::sqrt(20) / (2.093 / 1.96), 1e-5);
}

Figures all_of(const std::vector<Figures>& runs) {
  Figures first = runs.front();
  take_means(first, {runs.begin() + 1, runs.end()});
  return first;
}

TEST(Runs, HaveTheirMeanAndStudentsInterval) {
  const Figures figures = all_of({run(98), run(100), run(102)});
  EXPECT_DOUBLE_EQ(figures.throughput_samples_per_s, 100);
  EXPECT_EQ(figures.throughput_of_runs, (std::vector<double>{98, 100, 102}));
  EXPECT_NEAR(*figures.throughput_interval, 4.303 * 2 / std::sqrt(3) / 100, 1e-12);
  EXPECT_NEAR(figures.iteration_mean_s, (100 / 98.0 + 1 + 100 / 102.0) / 3, 1e-12);
}

// Five runs that are equal by chance, each known to 4 %: their mean is known to 4 / sqrt(5) %.
TEST(Runs, AreNotKnownBetterThanTheySayThemselves) {
  const std::vector<Figures> runs(5, run(100, 0.04));
  EXPECT_NEAR(*all_of(runs).throughput_interval, 0.04 / std::sqrt(5), 1e-12);
  std::vector<Figures> short_runs = runs;
  short_runs[3].throughput_interval.reset();  // too short for its own: only Student's
  EXPECT_NEAR(*all_of(short_runs).throughput_interval, 0, 1e-12);
}

TEST(Runs, ThatAllSlowDownAreKnownLessWell) {
  std::vector<Figures> runs{run(98), run(100), run(102)};
  for (Figures& one : runs)
    one.halves_differ = -0.02;
  EXPECT_NEAR(*all_of(runs).throughput_interval, std::hypot(4.303 * 2 / std::sqrt(3) / 100, 0.02),
              1e-12);
  runs[0].halves_differ = 0.02;
  runs[1].halves_differ = 0;  // runs now differ by chance
  EXPECT_NEAR(*all_of(runs).throughput_interval, 4.303 * 2 / std::sqrt(3) / 100, 1e-12);
}

TEST(Runs, AreCalledUnsteadyByTheirMeanNotByTheFirst) {
  const auto warnings_of = [](std::vector<double> halves) {
    std::vector<Figures> runs;
    for (const double differ : halves) {
      runs.push_back(run(100));
      runs.back().halves_differ = differ;
      if (is_unsteady(runs.back()))
        runs.back().warnings.push_back(unsteady_warning(runs.back()));
    }
    return all_of(runs).warnings;
  };
  EXPECT_TRUE(warnings_of({0.05, -0.02}).empty());
  for (const std::vector<double>& halves : {std::vector{0.01, 0.11}, {0.11, 0.01}}) {
    const std::vector<Warning> warnings = warnings_of(halves);
    ASSERT_EQ(warnings.size(), 1U);
    expect_mentions(warnings.front().text,
                    {"97 samples/s in the first half", "103 samples/s in the second"});
  }
}

TEST(Runs, ThatAreOneStayAsTheyAre) {
  const Figures figures = all_of({run(98, 0.5)});
  EXPECT_DOUBLE_EQ(figures.throughput_samples_per_s, 98);
  EXPECT_TRUE(figures.throughput_of_runs.empty());
  EXPECT_DOUBLE_EQ(*figures.throughput_interval, 0.5);
}

TEST(Runs, SayWhereTheyAreFurtherApartThanEachKnows) {
  EXPECT_TRUE(all_of({run(98, 0.02), run(100, 0.02), run(102, 0.02)}).warnings.empty());
  EXPECT_TRUE(all_of({run(99.9, 1e-6), run(100, 1e-6), run(100.1, 1e-6)}).warnings.empty());
  const Figures figures = all_of({run(5686), run(7310), run(7320)});
  ASSERT_EQ(figures.warnings.size(), 1U);
  expect_mentions(figures.warnings[0].text, {"modes", "5,686, 7,310, 7,320", "seed"});
}

TEST(Runs, AreSaidInOneLine) {
  const auto made = [](int runs, const std::string& fidelity = "step") {
    Result result = made_result({}, 100);
    result.provenance.fidelity = fidelity;
    result.figures.runs = runs;
    return result;
  };
  EXPECT_EQ(how_simulated({made(1), made(1)}), "step, 1 run");
  EXPECT_EQ(how_simulated({made(5), made(5)}), "step, 5 runs");
  EXPECT_EQ(how_simulated({made(5), made(1, "flow"), made(5)}),
            "flow, 1 run (1 cell); step, 5 runs (2 cells)");
  nlohmann::ordered_json older = to_json(made_result({}, 100));
  older["figures"].erase("runs");
  older["provenance"].erase("fidelity");
  older["figures"].erase("throughput_of_runs");
  const auto result = from_json(older);
  ASSERT_TRUE(result);
  EXPECT_EQ(how_simulated({*result}), "flow, 1 run");
}

// Once, five runs that took more than 2 s together became one, whose interval was up to 11 times
// too narrow.
TEST(Runs, AreFiveWhereChanceDecidesUnlessACellMayNotTakeSoLong) {
  struct Setup setup;
  setup.traffic.cluster.topology = make_topology({1, 1}, 1);
  const auto runs_with = [&](const std::string& schedule, double jitter, double seconds_of_a_run) {
    setup.scenario.schedule = &Registered<Schedule>::all().at(schedule);
    setup.scenario.schedule_settings = Settings(setup.scenario.schedule->options, {});
    setup.scenario.jitter = jitter;
    return runs_of(setup, seconds_of_a_run, 3600);
  };
  for (const std::string schedule : {"asp", "ssp", "inhad"}) {
    EXPECT_EQ(runs_with(schedule, 0.1, 720), 5) << schedule;  // an hour in all
    EXPECT_EQ(runs_with(schedule, 0.1, 721), 4) << schedule;
    EXPECT_EQ(runs_with(schedule, 0.1, 1200), 3) << schedule;
    EXPECT_EQ(runs_with(schedule, 0.1, 1201), 1) << schedule;
    EXPECT_EQ(runs_with(schedule, 0, 1), 1) << schedule;
  }
  EXPECT_EQ(runs_with("bsp", 0.1, 1), 1);
  EXPECT_EQ(too_few_runs(setup, 1), "");
  runs_with("asp", 0.1, 1201);
  EXPECT_EQ(too_few_runs(setup, 5), "");
  expect_mentions(too_few_runs(setup, 3), {"3 runs, because five", "--limit-seconds"});
  expect_mentions(too_few_runs(setup, 1), {"one run, because five", "its interval is wide"});
  setup.scenario.repeats = 2;
  EXPECT_EQ(runs_with("asp", 0.1, 1e6), 2);
  EXPECT_EQ(too_few_runs(setup, 2), "");
}

TEST(Runs, HaveSeedsOfTheirOwn) {
  EXPECT_EQ(seed_of_run(7, 0), 7U);
  std::set<std::uint64_t> seeds;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (int run = 0; run < 20; ++run) {
      seeds.insert(seed_of_run(seed, run));
      EXPECT_LE(seed_of_run(seed, run), 9007199254740991U);  // the option's limit
    }
  EXPECT_EQ(seeds.size(), 400U);
}

}  // namespace
}  // namespace syncline

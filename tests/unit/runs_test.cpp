// Several runs of a cell: their mean, and how well it is known.
#include "sim/report/runs.h"

#include <cmath>
#include <gtest/gtest.h>
#include <set>

#include "sim/engine/repeats.h"
#include "tests/unit/errors.h"
#include "tests/unit/made_results.h"

namespace syncline {
namespace {

// A run with this throughput, whose own interval is so wide.
Report run(double throughput, double interval = 0.001) {
  Report report;
  report.throughput = throughput;
  report.iteration_mean_s = 100 / throughput;
  report.throughput_interval = interval;
  return report;
}

Report all_of(const std::vector<Report>& runs) {
  Report first = runs.front();
  std::vector<nlohmann::ordered_json> others;
  for (std::size_t i = 1; i < runs.size(); ++i)
    others.push_back(nlohmann::ordered_json::parse(run_figures(runs[i]).dump()));
  take_means(first, others);
  return first;
}

TEST(Runs, HaveTheirMeanAndStudentsInterval) {
  const Report report = all_of({run(98), run(100), run(102)});
  EXPECT_DOUBLE_EQ(report.throughput, 100);
  EXPECT_EQ(report.throughput_of_runs, (std::vector<double>{98, 100, 102}));
  EXPECT_NEAR(*report.throughput_interval, 4.303 * 2 / std::sqrt(3) / 100, 1e-12);
  EXPECT_NEAR(report.iteration_mean_s, (100 / 98.0 + 1 + 100 / 102.0) / 3, 1e-12);
}

TEST(Runs, ThatAllSlowDownAreKnownLessWell) {
  std::vector<Report> runs{run(98), run(100), run(102)};
  for (Report& one : runs)
    one.halves_differ = -0.02;
  EXPECT_NEAR(*all_of(runs).throughput_interval, std::hypot(4.303 * 2 / std::sqrt(3) / 100, 0.02),
              1e-12);
  runs[0].halves_differ = 0.02;
  runs[1].halves_differ = 0;  // now they differ by chance
  EXPECT_NEAR(*all_of(runs).throughput_interval, 4.303 * 2 / std::sqrt(3) / 100, 1e-12);
}

TEST(Runs, ThatAreOneStayAsTheyAre) {
  const Report report = all_of({run(98, 0.5)});
  EXPECT_DOUBLE_EQ(report.throughput, 98);
  EXPECT_TRUE(report.throughput_of_runs.empty());
  EXPECT_DOUBLE_EQ(*report.throughput_interval, 0.5);
}

TEST(Runs, SayWhereTheyAreFurtherApartThanEachKnows) {
  EXPECT_TRUE(all_of({run(98, 0.02), run(100, 0.02), run(102, 0.02)}).warnings.empty());
  EXPECT_TRUE(all_of({run(99.9, 1e-6), run(100, 1e-6), run(100.1, 1e-6)}).warnings.empty());
  const Report report = all_of({run(5686), run(7310), run(7320)});
  ASSERT_EQ(report.warnings.size(), 1U);
  expect_mentions(report.warnings[0], {"modes", "5,686, 7,310, 7,320", "seed"});
}

TEST(Runs, AreSaidInOneLine) {
  const auto made = [](int runs, const std::string& fidelity = "step") {
    nlohmann::ordered_json result = made_result({}, 100);
    result["provenance"]["fidelity"] = fidelity;
    result["figures"]["runs"] = runs;
    return result;
  };
  EXPECT_EQ(how_simulated({made(1), made(1)}), "step, 1 run");
  EXPECT_EQ(how_simulated({made(5), made(5)}), "step, 5 runs");
  EXPECT_EQ(how_simulated({made(5), made(1, "flow"), made(5)}),
            "flow, 1 run (1 cell); step, 5 runs (2 cells)");
  nlohmann::ordered_json older = made_result({}, 100);
  older["figures"].erase("runs");
  older["provenance"].erase("fidelity");
  older["figures"].erase("throughput_of_runs");
  EXPECT_TRUE(is_result(older));
  EXPECT_EQ(runs_in(older), 1);
  EXPECT_EQ(fidelity_of(older), "flow");
}

TEST(Runs, HaveSeedsOfTheirOwn) {
  EXPECT_EQ(seed_of_run(7, 0), 7U);
  std::set<std::uint64_t> seeds;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (int run = 0; run < 20; ++run) {
      seeds.insert(seed_of_run(seed, run));
      EXPECT_LE(seed_of_run(seed, run), 9007199254740992U);  // what the option allows
    }
  EXPECT_EQ(seeds.size(), 400U);
}

}  // namespace
}  // namespace syncline

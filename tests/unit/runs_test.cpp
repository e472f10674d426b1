// Several runs of a cell: their mean, and how well it is known.
#include "sim/report/runs.h"

#include <cmath>
#include <gtest/gtest.h>
#include <set>

#include "sim/engine/repeats.h"
#include "sim/report/result_json.h"
#include "tests/unit/errors.h"
#include "tests/unit/made_results.h"

namespace syncline {
namespace {

// A run with this throughput, whose own interval is so wide.
Figures run(double throughput, double interval = 0.001) {
  Figures figures;
  figures.throughput_samples_per_s = throughput;
  figures.iteration_mean_s = 100 / throughput;
  figures.throughput_interval = interval;
  return figures;
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

TEST(Runs, ThatAllSlowDownAreKnownLessWell) {
  std::vector<Figures> runs{run(98), run(100), run(102)};
  for (Figures& one : runs)
    one.halves_differ = -0.02;
  EXPECT_NEAR(*all_of(runs).throughput_interval, std::hypot(4.303 * 2 / std::sqrt(3) / 100, 0.02),
              1e-12);
  runs[0].halves_differ = 0.02;
  runs[1].halves_differ = 0;  // now they differ by chance
  EXPECT_NEAR(*all_of(runs).throughput_interval, 4.303 * 2 / std::sqrt(3) / 100, 1e-12);
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
  expect_mentions(figures.warnings[0], {"modes", "5,686, 7,310, 7,320", "seed"});
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

TEST(Runs, HaveSeedsOfTheirOwn) {
  EXPECT_EQ(seed_of_run(7, 0), 7U);
  std::set<std::uint64_t> seeds;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (int run = 0; run < 20; ++run) {
      seeds.insert(seed_of_run(seed, run));
      EXPECT_LE(seed_of_run(seed, run), 9007199254740991U);  // what the option allows
    }
  EXPECT_EQ(seeds.size(), 400U);
}

}  // namespace
}  // namespace syncline

// Cells that differ only in their seed, shown as one.
#include "sim/study/pooled.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "sim/page/tables.h"
#include "sim/report/result_json.h"
#include "sim/study/charts.h"
#include "sim/study/ranking.h"
#include "tests/unit/errors.h"
#include "tests/unit/made_results.h"

namespace syncline {
namespace {

using Options = std::map<std::string, std::string>;

// A cell with this seed and throughput.
Result seeded(const std::string& seed, double samples_per_s, Options options = {}) {
  options["seed"] = seed;
  return made_result(options, samples_per_s);
}

Result learner(const std::string& schedule, const std::string& seed, std::optional<double> target_s,
               Options options = {}) {
  options["schedule"] = schedule;
  options["seed"] = seed;
  options["until"] = "accuracy:0.9";
  const double seconds = target_s.value_or(9);
  Learned learned = made_learned(seconds / 100, 0.9);
  return learned_result(options, 100, learned, target_s);
}

std::vector<std::string> sentences_of_pool(const std::vector<Result>& cells) {
  return ranked(pooled(cells).results).sentences;
}

TEST(Pooled, AreMediansByHand) {
  std::vector<Result> cells{seeded("3", 104), seeded("1", 98), seeded("2", 100)};
  cells[0].figures.iteration_mean_s = 0.24;
  cells[1].figures.iteration_mean_s = 0.27;
  cells[2].figures.iteration_mean_s = 0.26;
  const Pool pool = pooled(cells);
  ASSERT_EQ(pool.results.size(), 1U);
  const Result& result = pool.results.front();
  EXPECT_DOUBLE_EQ(result.figures.throughput_samples_per_s, 100);
  EXPECT_DOUBLE_EQ(result.figures.iteration_mean_s, 0.26);
  EXPECT_EQ(result.figures.runs, 3);
  EXPECT_EQ(result.figures.throughput_of_runs, (std::vector<double>{98, 100, 104}));
  EXPECT_EQ(seeds_of(result), 3U);
  EXPECT_EQ(result.option("seed"), "1, 2, 3");
  const auto band = band_of("throughput_samples_per_s", result);
  ASSERT_TRUE(band);
  EXPECT_DOUBLE_EQ(band->least, 98);
  EXPECT_DOUBLE_EQ(band->most, 104);
  // The median of four: the mean of the middle two.
  cells.push_back(seeded("4", 90));
  EXPECT_DOUBLE_EQ(pooled(cells).results.front().figures.throughput_samples_per_s, 99);
}

TEST(Pooled, AreOfAllRunsOfAllCells) {
  std::vector<Result> cells{seeded("1", 100), seeded("2", 200)};
  cells[0].figures.throughput_of_runs = {90, 100, 110};
  cells[1].figures.throughput_of_runs = {95, 96, 409};
  cells[0].figures.runs = cells[1].figures.runs = 3;
  const Result result = pooled(cells).results.front();
  EXPECT_DOUBLE_EQ(result.figures.throughput_samples_per_s, 98);  // of 90 95 96 100 110 409
  EXPECT_EQ(result.figures.runs, 6);
  EXPECT_DOUBLE_EQ(band_of("throughput_samples_per_s", result)->most, 409);
}

TEST(Pooled, HavePartsThatAddUpToTheIteration) {
  std::vector<Result> cells;
  for (int seed = 1; seed <= 4; ++seed) {
    cells.push_back(seeded(std::to_string(seed), 100));
    Figures& figures = cells.back().figures;
    figures.waiting_s = 0.01 * seed * seed;
    figures.iteration_mean_s =
        figures.compute_s + figures.exposed_communication_s + figures.waiting_s;
  }
  const Figures figures = pooled(cells).results.front().figures;
  EXPECT_NEAR(
      figures.compute_s + figures.compress_s + figures.exposed_communication_s + figures.waiting_s,
      figures.iteration_mean_s, 1e-12);
}

TEST(Pooled, DoNotAskForTheOrderOfTheCells) {
  std::vector<Result> cells;
  for (const char* seed : {"10", "2", "33"})
    for (const char* schedule : {"asp", "bsp"}) {
      cells.push_back(learner(schedule, seed, 1.0 + seed[0] - '0' + schedule[0] - 'a'));
      cells.back().figures.throughput_of_runs = {100.0 + schedule[0]};
    }
  const auto shown = [](const std::vector<Result>& some) {
    std::vector<std::string> texts;
    for (const Result& result : pooled(some).results)
      texts.push_back(to_json(result).dump());
    std::ranges::sort(texts);
    return texts;
  };
  const auto expected = shown(cells);
  const auto sentences = sentences_of_pool(cells);
  std::ranges::sort(cells, {}, [](const Result& cell) { return cell.option("seed"); });
  do {
    EXPECT_EQ(shown(cells), expected);
    EXPECT_EQ(sentences_of_pool(cells), sentences);
  } while (std::ranges::next_permutation(cells, {}, [](const Result& cell) {
             return cell.option("seed") + cell.option("schedule");
           }).found);
}

TEST(Pooled, StayAsTheyAreWithOneSeed) {
  const std::vector<Result> cells = made_sweep();
  const Pool pool = pooled(cells);
  EXPECT_TRUE(pool.notes.empty());
  ASSERT_EQ(pool.results.size(), cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i)
    EXPECT_EQ(to_json(pool.results[i]), to_json(cells[i]));
  EXPECT_EQ(comparison_table(pool.results, {"schedule"}), comparison_table(cells, {"schedule"}));
  // Cells that differ in more than the seed, and a file that is there twice.
  const std::vector<Result> others{seeded("1", 1), seeded("2", 2, {{"batch", "64"}}),
                                   seeded("1", 3)};
  EXPECT_EQ(pooled(others).results.size(), 3U);
}

TEST(Pooled, CompeteThoughOneHasFewerSeeds) {
  std::vector<Result> cells{seeded("1", 100), seeded("2", 101),
                            seeded("1", 50, {{"schedule", "asp"}})};
  const Pool pool = pooled(cells);
  EXPECT_EQ(ranked(pool.results).contests.size(), 1U);
  expect_mentions(pool.notes.front(), {"the median of 1 to 2 seeds (1 and 2)"});
}

TEST(Pooled, CountAMissedTargetAsLaterThanAny) {
  const auto pool_of_targets = [](std::vector<std::optional<double>> targets) {
    std::vector<Result> cells;
    for (std::size_t i = 0; i < targets.size(); ++i)
      cells.push_back(learner("bsp", std::to_string(i + 1), targets[i]));
    return pooled(cells).results.front();
  };
  const Result reached = pool_of_targets({4, std::nullopt, 3});
  EXPECT_DOUBLE_EQ(*reached.figures.target_s, 4);
  EXPECT_EQ(shown_with_range(*find_figure("target_s"), reached), "4 s (3 s to missed)");
  const Result missed = pool_of_targets({std::nullopt, std::nullopt, 3});
  EXPECT_FALSE(missed.figures.target_s);
  EXPECT_EQ(shown_with_range(*find_figure("target_s"), missed), "missed (3 s to missed)");
}

TEST(Pooled, DivergedWhereMostSeedsDid) {
  std::vector<Result> cells{learner("bsp", "1", 4), learner("bsp", "2", 5), learner("bsp", "3", 6)};
  for (const std::size_t lost : {0U, 1U}) {
    const std::string seed = cells[lost].option("seed");
    cells[lost] = learned_result({{"schedule", "bsp"}, {"seed", seed}, {"until", "accuracy:0.9"}},
                                 100, made_divergence(1));
    EXPECT_EQ(pooled(cells).results.front().diverged(), lost == 1) << lost;
    EXPECT_EQ(pooled(cells).results.front().figures.loss.has_value(), lost == 0) << lost;
  }
}

TEST(Pooled, HaveTheMedianCurveInItsBand) {
  // Straight lines to loss 0.02, 0.04 and 0.06; the last ends half way.
  std::vector<Result> cells{learner("bsp", "1", 2), learner("bsp", "2", 4), learner("bsp", "3", 6)};
  cells[2].learned->curve.resize(6);
  const Result result = pooled(cells).results.front();
  const std::vector<CurvePoint>& curve = result.learned->curve;
  ASSERT_EQ(curve.size(), 11U);
  EXPECT_DOUBLE_EQ(curve.back().loss, cells[1].learned->curve.back().loss);
  EXPECT_DOUBLE_EQ(curve.back().seconds, 10);
  EXPECT_DOUBLE_EQ(curve[3].loss, cells[1].learned->curve[3].loss);
  const std::vector<SeedBand> bands = curve_band(result, &CurvePoint::loss);
  ASSERT_EQ(bands.size(), curve.size());
  EXPECT_DOUBLE_EQ(bands[3].least, cells[0].learned->curve[3].loss);
  EXPECT_DOUBLE_EQ(bands[3].most, cells[2].learned->curve[3].loss);
  EXPECT_DOUBLE_EQ(bands.back().most, cells[2].learned->curve[5].loss);
}

// Runs met their target after 4, 7 and 10 evaluations of 2, 3 and 1 s. Once, the median of the two
// that had ended was joined with the third, which went on: a vertical drop.
TEST(Pooled, HaveACurveThatEndsWithTheMedianRunAndNeverStands) {
  std::vector<Result> cells{learner("bsp", "1", 8), learner("bsp", "2", 21),
                            learner("bsp", "3", 10)};
  const int evaluations[] = {4, 7, 10}, seconds[] = {2, 3, 1};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::vector<CurvePoint>& curve = cells[i].learned->curve;
    curve.resize(static_cast<std::size_t>(evaluations[i]) + 1);
    for (std::size_t at = 0; at < curve.size(); ++at) {
      curve[at].seconds = static_cast<double>(at) * seconds[i];
      curve[at].loss = 2 - 1.9 * static_cast<double>(at) / evaluations[i];
    }
  }
  for (const std::vector<std::size_t>& order : {std::vector<std::size_t>{0, 1, 2}, {2, 0, 1}}) {
    std::vector<Result> shuffled;
    for (const std::size_t i : order)
      shuffled.push_back(cells[i]);
    const std::vector<CurvePoint> curve = pooled(shuffled).results.front().learned->curve;
    ASSERT_EQ(curve.size(), 8U);
    for (std::size_t at = 0; at < curve.size(); ++at) {
      EXPECT_DOUBLE_EQ(curve[at].seconds, 2.0 * static_cast<double>(at)) << "the run of 2 s";
      EXPECT_DOUBLE_EQ(curve[at].samples, 500.0 * static_cast<double>(at));
      EXPECT_DOUBLE_EQ(curve[at].loss, 2 - 1.9 * static_cast<double>(at) / 7) << "the median run";
    }
  }
  // If two of three runs diverge, so does the curve.
  cells[0].learned->diverged_s = 8;
  cells[1].learned->diverged_s = 21;
  const std::vector<CurvePoint> curve = pooled(cells).results.front().learned->curve;
  ASSERT_EQ(curve.size(), 11U);
  EXPECT_TRUE(std::isfinite(curve[7].loss));
  EXPECT_FALSE(std::isfinite(curve[8].loss));
}

TEST(Pooled, SayWhyTheCacheOfSspMakesItFasterThanAsp) {
  const auto of = [](const char* schedule, const char* cache) {
    return made_result({{"schedule", schedule}, {"cache", cache}}, 100);
  };
  expect_mentions(pooled({of("asp", ""), of("ssp", "on")}).notes.front(),
                  {"do not wait for the servers' answers", "cache = off compares like with like"});
  EXPECT_TRUE(pooled({of("asp", ""), of("ssp", "off")}).notes.empty());
  EXPECT_TRUE(pooled({of("bsp", ""), of("ssp", "on")}).notes.empty());
}

TEST(Pooled, AreOneLineOfAChart) {
  std::vector<Result> cells;
  for (const char* schedule : {"asp", "bsp"})
    for (const char* seed : {"1", "2", "3"})
      cells.push_back(learner(schedule, seed, 1.0 + seed[0] - '0'));
  const Pool pool = pooled(cells);
  const std::vector<Chart> charts = learning_charts(comparison_of(pool.results), 0);
  ASSERT_FALSE(charts.empty());
  EXPECT_EQ(charts.front().series[0].name, "asp");
  EXPECT_EQ(charts.front().series[0].bands.size(), charts.front().series[0].y.size());
  expect_mentions(charts.front().sentence, {"each is the median of 3 seeds"});
}

TEST(Pooled, SayInHowManySeedsTheWinnerWasFirst) {
  std::vector<Result> cells;
  const std::vector<double> bsp{2, 2.5, 2.25, 2.125, 9}, asp{3, 2.4, 3, 3, 3};
  for (std::size_t i = 0; i < bsp.size(); ++i) {
    cells.push_back(learner("asp", std::to_string(i + 1), asp[i]));
    cells.push_back(learner("bsp", std::to_string(i + 1), bsp[i]));
  }
  expect_mentions(sentences_of_pool(cells).front(),
                  {"reached accuracy 0.9 first: bsp, 2.25 s (median of 5 seeds, 2 s to 9 s; first "
                   "in 3 of 5) against 3 s of asp"});
}

TEST(Pooled, OfThroughputSaySoToo) {
  const auto of = [](const char* schedule, double shift) {
    std::vector<Result> cells;
    for (const char* seed : {"1", "2", "3"})
      cells.push_back(
          seeded(seed, 100 + shift + seed[0] - '0', {{"schedule", schedule}, {"jitter", "0.1"}}));
    return cells;
  };
  std::vector<Result> cells = of("bsp", 100);
  std::ranges::copy(of("asp", 0), std::back_inserter(cells));
  expect_mentions(
      sentences_of_pool(cells).front(),
      {"bsp is the fastest: 202 samples/s (median of 3 seeds, 201 to 203; first in 3 of 3)",
       "asp (102)"});
}

TEST(Verdicts, FromOneSeedOfSomethingRandomSaySo) {
  const auto of = [](const char* schedule, double samples_per_s, const char* jitter) {
    return seeded("1", samples_per_s, {{"schedule", schedule}, {"jitter", jitter}});
  };
  expect_mentions(ranked({of("bsp", 200, "0.1"), of("asp", 100, "0.1")}).sentences.front(),
                  {"200 samples/s (one seed)"});
  EXPECT_EQ(ranked({of("bsp", 200, "0"), of("asp", 100, "0")}).sentences.front().find("seed"),
            std::string::npos);
  expect_mentions(ranked({learner("bsp", "1", 2), learner("asp", "1", 3)}).sentences.front(),
                  {"bsp, 2 s (one seed) against 3 s of asp"});
}

// The choosing seed prefers rate 0.5, all others 0.1.
std::vector<Result> tuned(const std::vector<std::string>& seeds, const std::string& choosing,
                          const std::string& schedule = "bsp", double slower = 0) {
  std::vector<Result> cells;
  for (const std::string& seed : seeds)
    for (const std::string rate : {"0.1", "0.5"})
      cells.push_back(learner(
          schedule, seed, slower + ((rate == "0.5") == (choosing == "seed " + seed) ? 1 : 2),
          {{"learning-rate", rate}, {"best-of", "learning-rate"}, {"best-of-seeds", choosing}}));
  return cells;
}

TEST(BestOf, ChoosesOnSeedsThatAreNotReported) {
  const Pool pool = pooled(tuned({"7", "1", "2"}, "seed 7"));
  ASSERT_EQ(pool.results.size(), 1U);
  EXPECT_EQ(pool.results.front().option("learning-rate"), "0.5");
  EXPECT_EQ(pool.results.front().option("seed"), "1, 2");
  EXPECT_DOUBLE_EQ(*pool.results.front().figures.target_s, 2);  // 1 on the seed that chose
  EXPECT_EQ(pool.notes.front(),
            "best-of = learning-rate: of 2 each has the first to reach accuracy 0.9 with seed 7, "
            "which is not reported");
  expect_mentions(pool.notes.back(), {"the median of 2 seeds (1 and 2)"});
}

// All seeds have the same held-out samples.
TEST(BestOf, SaysThatTheSamplesThatChooseAreThoseThatAreReported) {
  for (const auto& [held_out, offered] :
       {std::pair("test",
                  "held-out = test: choose with held-out = validation, and report the choice "
                  "with held-out = test"),
        {"validation", "held-out = validation: report the choice with held-out = test"}}) {
    std::vector<Result> cells = tuned({"7", "1", "2"}, "seed 7");
    for (Result& cell : cells)
      cell.options.push_back({.name = "held-out", .value = held_out});
    const std::string note = pooled(cells).notes.front();
    EXPECT_TRUE(
        note.ends_with(std::string("the samples that choose also measure accuracy, ") + offered))
        << note;
    for (Result& cell : cells)
      for (WrittenOption& option : cell.options)
        if (option.name == "until")
          option.value = "loss:0.5";
    EXPECT_EQ(pooled(cells).notes.front().find("samples that choose"), std::string::npos);
  }
}

TEST(BestOf, WithOneSeedSaysThatItReportsWhatItChoseOn) {
  const Pool pool = pooled(tuned({"7"}, "seed 7"));
  ASSERT_EQ(pool.results.size(), 1U);
  EXPECT_EQ(pool.results.front().option("learning-rate"), "0.5");
  ASSERT_EQ(pool.notes.size(), 1U);
  expect_mentions(pool.notes.front(), {"with seed 7, which is also what is reported"});
}

TEST(BestOf, GoesByTheMedianOfSeveralSeeds) {
  const Pool pool = pooled(tuned({"1", "2", "3", "4"}, "seeds 1, 2, 3"));
  ASSERT_EQ(pool.results.size(), 1U);
  EXPECT_EQ(pool.results.front().option("learning-rate"), "0.1");
  EXPECT_EQ(pool.results.front().option("seed"), "4");
  expect_mentions(pool.notes.front(), {"with seeds 1, 2 and 3, which are not reported"});
}

// Its cell on the choosing seed is missing: it must not be chosen on the reported seeds.
TEST(BestOf, DoesNotChooseOnSeedsThatAreReported) {
  std::vector<Result> cells = tuned({"7", "1", "2"}, "seed 7");
  std::erase_if(cells, [](const Result& cell) {
    return cell.option("seed") == "7" && cell.option("learning-rate") == "0.5";
  });
  for (Result& cell : cells)
    if (cell.option("learning-rate") == "0.5")
      cell.figures.target_s = 0.001;
  EXPECT_EQ(pooled(cells).results.front().option("learning-rate"), "0.1");
}

TEST(BestOf, SaysWhereTheBestIsAtAnEnd) {
  const auto note_with_best = [](const std::string& best) {
    std::vector<Result> cells;
    for (const std::string rate : {"0.1", "0.5", "2"})
      for (const char* seed : {"1", "2"})
        cells.push_back(learner(
            "bsp", seed, rate == best ? 1 : 2,
            {{"learning-rate", rate}, {"best-of", "learning-rate"}, {"best-of-seeds", "seed 1"}}));
    return pooled(cells).notes.front();
  };
  expect_mentions(note_with_best("2"), {"not reported; 1 of 1 are at an end of what was tried"});
  expect_mentions(note_with_best("0.1"), {"1 of 1 are at an end"});
  EXPECT_EQ(note_with_best("0.5").find("end"), std::string::npos);
}

TEST(BestOf, IsAskedOfEachThatCompetes) {
  std::vector<Result> cells = tuned({"7", "1", "2"}, "seed 7");
  std::ranges::copy(tuned({"7", "1", "2"}, "seed 7", "asp", 3), std::back_inserter(cells));
  // A schedule without anything to tune is not reported on the choosing seed, either.
  for (const char* seed : {"7", "1", "2"})
    cells.push_back(learner("ssp", seed, seed[0] == '7' ? 0.1 : 9));
  const Pool pool = pooled(cells);
  ASSERT_EQ(pool.results.size(), 3U);
  for (const Result& result : pool.results)
    EXPECT_EQ(seeds_of(result), 2U);
  EXPECT_DOUBLE_EQ(*pool.results.back().figures.target_s, 9);
  const Ranking ranking = ranked(pool.results);
  EXPECT_EQ(ranking.contests.size(), 1U);
  expect_mentions(ranking.sentences.front(),
                  {"first: bsp, 2 s (median of 2 seeds; first in 2 of 2)"});
  const std::string table = comparison_table(pool.results, {"schedule", "learning-rate", "seed"});
  EXPECT_EQ(std::ranges::count(table, '\n'), 5) << table;  // a head, three rows, how simulated
  EXPECT_EQ(table.find("seed"), std::string::npos) << table;
}

}  // namespace
}  // namespace syncline

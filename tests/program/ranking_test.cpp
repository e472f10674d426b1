// Who wins, by how much, and against whom; what an epoch takes and costs.
#include "sim/study/ranking.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/page/tables.h"
#include "tests/program/program.h"
#include "tests/unit/errors.h"
#include "tests/unit/made_results.h"

namespace syncline {
namespace {

using Options = std::map<std::string, std::string>;

struct Cell {
  Options options;
  double throughput;
  double interval = 0;  // half width of 95 %, as a share
  double price = 0;     // 0: no price
  double staleness = 0;
};

Result result_of(const Cell& cell) {
  Options options = cell.options;
  if (cell.price > 0)
    options["price"] = std::to_string(cell.price);
  Result result = result_with(options, cell.throughput);
  result.figures.throughput_interval = cell.interval;
  result.figures.staleness_mean = cell.staleness;
  return result;
}

Ranking ranking_of(const std::vector<Cell>& cells) {
  std::vector<Result> results;
  for (const Cell& cell : cells)
    results.push_back(result_of(cell));
  return ranked(results);
}

Options of(const char* schedule, const char* exchange, int workers = 8) {
  return {{"schedule", schedule}, {"exchange", exchange}, {"workers", std::to_string(workers)}};
}

TEST(Ranking, SaysWhatWonByHowMuchOverWhat) {
  const Ranking ranking = ranking_of({{of("asp", "ps"), 500}, {of("bsp", "ring"), 1234}});
  ASSERT_EQ(ranking.sentences.size(), 1U);
  EXPECT_EQ(ranking.sentences[0],
            "bsp over ring is the fastest: 1,234 samples/s, 2.5 x the next, asp over ps (500).");
  ASSERT_EQ(ranking.cells.size(), 2U);
  EXPECT_EQ(ranking.cells[0].result, 1U);  // the fastest first
  EXPECT_EQ(ranking.cells[1].choice, "asp over ps");
}

TEST(Ranking, SaysASmallLeadAsAPart) {
  EXPECT_EQ(ranking_of({{of("bsp", "ring"), 104}, {of("bsp", "tree"), 100}}).sentences.front(),
            "ring is the fastest: 104 samples/s, 4 % ahead of the next, tree (100).");
}

// 100 +- 2 and 97 +- 2 overlap, 100 +- 1 and 97 +- 1.9 do not.
TEST(Ranking, CallsATieWhatIsWithinTheIntervals) {
  const Ranking tie = ranking_of(
      {{of("bsp", "ring"), 100, 0.02}, {of("bsp", "tree"), 97, 0.02}, {of("bsp", "ps"), 50, 0.02}});
  EXPECT_EQ(tie.contests.front().tied, 2U);
  EXPECT_EQ(tie.sentences.front(),
            "ring and tree tie at 100 to 97 samples/s, within their intervals, 2 x the next, ps "
            "(50).");
  const Ranking clear =
      ranking_of({{of("bsp", "ring"), 100, 0.01}, {of("bsp", "tree"), 97, 0.019}});
  EXPECT_EQ(clear.contests.front().tied, 1U);
  const Ranking all = ranking_of({{of("bsp", "ring"), 100}, {of("bsp", "tree"), 100}});
  EXPECT_EQ(all.sentences.front(), "ring and tree tie at 100 samples/s, less than 0.5 % apart.");
}

// However precise each throughput is: once, 1,000.5 "is the fastest" next to 1,000.
TEST(Ranking, CrownsNoLeadThatIsSmallerThanASimulationsOwnError) {
  const Ranking tie = ranking_of({{of("bsp", "ring"), 1000.5}, {of("bsp", "tree"), 1000}});
  EXPECT_EQ(tie.contests.front().tied, 2U);
  EXPECT_EQ(tie.sentences.front(), "ring and tree tie at 1,000 samples/s, less than 0.5 % apart.");
  EXPECT_EQ(ranking_of({{of("bsp", "ring"), 1006}, {of("bsp", "tree"), 1000}}).sentences.front(),
            "ring is the fastest: 1,006 samples/s, 0.6 % ahead of the next, tree (1,000).");
}

// 7,944 +- 40 % and 6,265 do not tie, although it is not certain that the first is faster.
TEST(Ranking, CallsOnlyWhatIsNearATie) {
  const Ranking far = ranking_of(
      {{of("bsp", "ring"), 7944, 0.4}, {of("bsp", "tree"), 6265}, {of("bsp", "ps"), 1000}});
  EXPECT_EQ(far.contests.front().tied, 1U);
  EXPECT_EQ(far.sentences.front(),
            "ring is the fastest: 7,944 samples/s, 1.3 x the next, tree (6,265), but their "
            "intervals overlap.");
  EXPECT_EQ(
      ranking_of({{of("bsp", "ring"), 100, 0.4}, {of("bsp", "tree"), 95.1}}).contests.front().tied,
      2U);
  EXPECT_EQ(
      ranking_of({{of("bsp", "ring"), 100, 0.4}, {of("bsp", "tree"), 94.9}}).contests.front().tied,
      1U);
  Result other = result_of({of("bsp", "tree"), 98, 0});
  other.figures.throughput_interval.reset();  // too few iterations to know
  other.figures.halves_differ = 0.025;
  EXPECT_EQ(ranked({result_of({of("bsp", "ring"), 100}), other}).contests.front().tied, 2U);
}

// Its throughput is unknown: it neither wins nor ties, and is named.
TEST(Ranking, HasNoCandidateThatIsNotSteady) {
  std::vector<Result> results{result_of({of("bsp", "ring"), 7944, 0.001}),
                              result_of({of("bsp", "tree"), 6265, 0.001}),
                              result_of({of("bsp", "ps"), 7000, 0.001})};
  results[0].figures.halves_differ = -0.12;
  const Ranking ranking = ranked(results);
  EXPECT_EQ(ranking.sentences.front(),
            "ps is the fastest: 7,000 samples/s, 1.1 x the next, tree (6,265); ring is no "
            "candidate: the halves of its window differ by 12 %.");
  EXPECT_EQ(ranking.cells.front().result, 2U);
  EXPECT_EQ(ranking.cells.back().result, 0U);
  results[1].figures.halves_differ = 0.05;
  EXPECT_EQ(ranked(results).sentences.front(),
            "ps is the fastest: 7,000 samples/s; ring and tree are no candidates: the halves of "
            "their windows differ by up to 12 %.");
  results[2].figures.halves_differ = 0.04;
  const Ranking none = ranked(results);
  EXPECT_EQ(none.contests.front().tied, 0U);
  expect_mentions(none.sentences.front(), {"none is known to be the fastest: ring, ps and tree"});
}

// Two cells in flows have similar errors; a flow compared with steps is known 3 % less precisely.
TEST(Ranking, CallsATieWhatIsWithinTheErrorOfFlows) {
  Result first = result_of({of("bsp", "ring"), 100, 0.001});
  Result second = result_of({of("bsp", "tree"), 98, 0.001});
  const auto tied_as = [&](const char* ring, const char* tree) {
    first.provenance.fidelity = ring;
    second.provenance.fidelity = tree;
    return ranked({first, second}).contests.front().tied;
  };
  EXPECT_EQ(tied_as("step", "step"), 1U);
  EXPECT_EQ(tied_as("flow", "flow"), 1U);
  EXPECT_EQ(tied_as("step", "flow"), 2U);
  EXPECT_EQ(tied_as("flow", "step"), 2U);
  second.figures.throughput_samples_per_s = 96.0;
  EXPECT_EQ(tied_as("flow", "step"), 1U);
  first.figures.warnings = {Warning(WarningKind::doubted_flows)};
  EXPECT_EQ(tied_as("flow", "step"), 2U);
  EXPECT_EQ(tied_as("flow", "flow"), 2U);
  second.figures.warnings = first.figures.warnings;
  EXPECT_EQ(tied_as("flow", "flow"), 1U);
}

TEST(Ranking, ComparesWithinANumberOfWorkers) {
  const Ranking ranking = ranking_of({{of("asp", "ps", 4), 400},
                                      {of("bsp", "ring", 4), 300},
                                      {of("asp", "ps", 8), 500, 0, 0, 7},
                                      {of("bsp", "ring", 8), 550},
                                      {of("asp", "ps", 16), 600, 0, 0, 15},
                                      {of("bsp", "ring", 16), 300}});
  ASSERT_EQ(ranking.contests.size(), 3U);
  ASSERT_EQ(ranking.sentences.size(), 2U);
  EXPECT_EQ(ranking.sentences[0],
            "At 16 workers asp over ps is the fastest: 600 samples/s (its gradients miss 15 "
            "others), 2 x the next, bsp over ring (300).");
  EXPECT_EQ(ranking.sentences[1], "With fewer workers: bsp over ring at 8; asp over ps at 4.");
}

TEST(Ranking, OfWorkersAloneIsAboutScaling) {
  EXPECT_EQ(ranking_of({{{{"workers", "1"}}, 100}, {{{"workers", "8"}}, 640}}).sentences.front(),
            "8 workers: 640 samples/s, 6.4 x 1 worker, at a scaling efficiency of 80 %.");
}

TEST(Ranking, CountsWinsWhereMoreThanWorkersDiffers) {
  std::vector<Cell> cells;
  for (const double factor : {0.1, 1.0, 10.0})
    for (const char* compressor : {"none", "topk"})
      cells.push_back(
          {{{"bandwidth-factor", fmt::format("{:g}", factor)}, {"compressor", compressor}},
           std::string(compressor) == "topk" ? 100.0 : 100 * factor});
  const Ranking ranking = ranking_of(cells);
  ASSERT_EQ(ranking.sentences.size(), 2U);
  EXPECT_EQ(ranking.sentences[0],
            "Of 3 combinations of bandwidth-factor, the fastest is topk in 1 and no compressor in "
            "1; ties for first place: no compressor and topk in 1.");
  expect_mentions(ranking.sentences[1], {"bandwidth-factor 0.1", "topk", "10 x the next"});
}

TEST(Ranking, NamesAWinnerOfAllCombinationsOnce) {
  std::vector<Cell> cells;
  for (const char* jitter : {"0", "0.1"})
    for (const char* factor : {"1", "2"})
      for (const char* exchange : {"ring", "tree"})
        cells.push_back({{{"jitter", jitter}, {"bandwidth-factor", factor}, {"exchange", exchange}},
                         exchange[0] == 'r' ? 200.0 : 100.0});
  EXPECT_EQ(
      ranking_of(cells).sentences.front().find("ring is the fastest in all 4 combinations of "), 0U)
      << ranking_of(cells).sentences.front();
}

// A price changes no speed, so that no lead is larger than another.
TEST(Ranking, SaysOnceWhatIsFastestWithEveryPrice) {
  std::vector<Cell> cells;
  for (const double price : {1, 2}) {
    cells.push_back({of("bsp", "ring"), 200, 0, price});
    cells.push_back({of("bsp", "tree"), 100, 0, price});
  }
  const Ranking ranking = ranking_of(cells);
  ASSERT_EQ(ranking.sentences.size(), 2U);
  EXPECT_EQ(ranking.sentences[0],
            "With every price ring is the fastest: 200 samples/s, 2 x the next, tree (100).");
  expect_mentions(ranking.sentences[1],
                  {", ring) is also the cheapest: ", " per million samples, in "});
}

// Two compressors that together lead a third do not tie with all.
TEST(Ranking, SaysWhoIsLevelWhereNobodyWinsAlone) {
  std::vector<Cell> cells;
  for (const double factor : {0.1, 1.0, 10.0})
    for (const char* compressor : {"none", "topk", "dgc"})
      cells.push_back(
          {{{"bandwidth-factor", fmt::format("{:g}", factor)}, {"compressor", compressor}},
           std::string(compressor) == "none" && factor < 10 ? 50.0 : 100.0});
  EXPECT_EQ(
      ranking_of(cells).sentences.at(0),
      "Of 3 combinations of bandwidth-factor, none has one winner; ties for first place: dgc and "
      "topk in 2 and all in 1.");
}

TEST(Ranking, OfSeveralSaysWhereNotAllAreSteady) {
  std::vector<Result> results;
  for (const int workers : {4, 8, 16})
    for (const char* schedule : {"asp", "bsp"}) {
      results.push_back(
          result_of({of(schedule, "ps", workers), workers * (schedule[0] == 'a' ? 90.0 : 100.0)}));
      if (schedule[0] == 'b' && workers < 16)
        results.back().figures.halves_differ = 0.1;
    }
  results[2].figures.halves_differ = 0.1;  // asp on 8
  const std::string text = ranked(results).sentences[1];
  EXPECT_EQ(text,
            "With fewer workers: none among cells that are steady at 8; asp among cells that are "
            "steady at 4.");
  for (Result& result : results)
    result.options.push_back({.name = "jitter", .value = result.option("workers")});
  expect_mentions(ranked(results).sentences[0],
                  {"the fastest is asp in 1 and bsp in 1; in 2 not all are steady"});
}

// A model with less flop is no choice, and another seed is the same run again.
TEST(Ranking, SaysNothingWhereNothingIsChosen) {
  EXPECT_TRUE(ranking_of({{{{"model", "a"}}, 1}, {{{"model", "b"}}, 2}}).sentences.empty());
  EXPECT_TRUE(ranking_of({{{{"seed", "1"}}, 1}, {{{"seed", "2"}}, 2}}).sentences.empty());
  EXPECT_TRUE(ranking_of({{{{"seed", "1"}}, 1}}).sentences.empty());
  EXPECT_TRUE(ranking_of({}).sentences.empty());
}

TEST(Ranking, TellsWhatNobodyWroteButDiffers) {
  const Ranking ranking =
      ranking_of({{{{"compressor", "none"}, {"exchange", "ring"}}, 100},
                  {{{"compressor", "topk"}, {"exchange", "allgather"}, {"density", "0.1"}}, 200}});
  expect_mentions(ranking.sentences.front(),
                  {"topk over allgather is the fastest", "no compressor over ring"});
}

TEST(Ranking, ComparesNamedCellsWithAllThatTheyAre) {
  const auto named = [](const char* name, const char* platform, int workers) {
    return Options{{"name", name}, {"platform", platform}, {"workers", std::to_string(workers)}};
  };
  EXPECT_EQ(
      ranking_of({{named("cheap", "a", 8), 100}, {named("fast", "b", 4), 300}}).sentences.front(),
      "fast is the fastest: 300 samples/s, 3 x the next, cheap (100).");
}

// A million samples: 100 s on 8 workers, 160 s on 4. At 9 per hour and worker: 2 and 1.6.
TEST(Ranking, SaysWhatAnEpochTakesAndCosts) {
  const std::vector<Cell> cells{{of("bsp", "ring", 4), 6250, 0, 9},
                                {of("bsp", "ring", 8), 1e4, 0, 9}};
  const Ranking ranking = ranking_of(cells);
  EXPECT_DOUBLE_EQ(ranking.cells[0].epoch_s, 100);
  EXPECT_DOUBLE_EQ(*ranking.cells[0].epoch_cost, 2);
  EXPECT_EQ(ranking.sentences.back(),
            "A million samples take 1 min 40 s at the fastest (8 workers) and cost 2.00; the "
            "cheapest is 4 workers: 1.60 in 2 min 40 s.");
  std::vector<Cell> epochs = cells;
  for (Cell& cell : epochs)
    cell.options["epoch-samples"] = "2500000";
  expect_mentions(ranking_of(epochs).sentences.back(),
                  {"An epoch of 2,500,000 samples takes 4 min 10 s", "costs 5.00"});
  epochs[0].throughput = 5000;
  expect_mentions(ranking_of(epochs).sentences.back(),
                  {"The fastest (8 workers) is also the cheapest: 5.00 per epoch of 2,500,000 "
                   "samples, in 4 min 10 s."});
  for (Cell& cell : epochs)
    cell.price = 0;
  EXPECT_EQ(ranking_of(epochs).sentences.back(),
            "An epoch of 2,500,000 samples takes 4 min 10 s at the fastest (8 workers).");
}

// Intervals that overlap do not make the dearer cell the cheapest, as until November 2026.
TEST(Ranking, NamesTheCheapestAlsoWhereChanceMayDecide) {
  EXPECT_EQ(ranking_of({{of("bsp", "ring", 4), 6250, 0.3, 9}, {of("bsp", "ring", 8), 1e4, 0.3, 9}})
                .sentences.back(),
            "A million samples take 1 min 40 s at the fastest (8 workers) and cost 2.00; the "
            "cheapest is 4 workers: 1.60 in 2 min 40 s, which may be chance.");
}

TEST(Tables, HaveAColumnForWhatDiffersThoughNobodySweptIt) {
  const std::vector<Result> results{
      result_of({{{"compressor", "none"}, {"exchange", "ring"}, {"batch", "32"}}, 1}),
      result_of({{{"compressor", "topk"}, {"exchange", "allgather"}, {"batch", "32"}}, 1})};
  const std::string table = comparison_table(results, {"compressor"});
  expect_mentions(table, {"compressor  exchange   samples/s", "topk        allgather"});
  EXPECT_EQ(table.find("batch"), std::string::npos);
}

TEST(ResultsCsv, HasTheSameColumnsInEverySweep) {
  const TemporaryFolder folder;
  const auto header_of = [&](const std::vector<std::string>& options, const std::string& out) {
    std::vector<std::string> arguments{"run",      "--platform",   "two-hosts", "--model",
                                       "resnet20", "--throughput", "100",       "--iterations",
                                       "3",        "--out",        out};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Ended ended = run_program(arguments, folder.path());
    EXPECT_EQ(ended.code, 0) << ended.err;
    const std::string text = text_of(folder.path(out + "/results.csv"));
    return text.substr(0, text.find('\n'));
  };
  const std::string one = header_of({}, "a");
  EXPECT_EQ(header_of({"--workers", "1,2", "--schedule", "bsp,ssp"}, "b"), one);
  EXPECT_EQ(header_of({"--compressor", "topk", "--device", "v100-modelled"}, "c"), one);
  EXPECT_TRUE(one.starts_with("name,accumulation,activation-bytes,aggregate,")) << one;
  expect_mentions(one, {",epoch-samples,", ",price,", ",epoch_s,epoch_cost,", ",flows"});
}

}  // namespace
}  // namespace syncline

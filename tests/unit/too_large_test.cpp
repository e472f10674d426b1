// Cells that do not fit into memory win nothing, wherever results are compared.
#include <gtest/gtest.h>

#include "sim/report/result_json.h"
#include "sim/study/charts.h"
#include "sim/study/pooled.h"
#include "sim/study/ranking.h"
#include "tests/unit/errors.h"
#include "tests/unit/made_results.h"

namespace syncline {
namespace {

using Options = std::map<std::string, std::string>;

Result in_memory(Result result, double gb, double has_gb = 80) {
  result.figures.memory_bytes = gb * 1e9;
  result.figures.device_memory_bytes = has_gb * 1e9;
  if (!result.figures.fits_memory())
    result.figures.warnings = {Warning(WarningKind::too_large, std::to_string(gb))};
  return result;
}

Result of_batch(int batch, double samples_per_s, double gb, Options more = {}) {
  more["batch"] = std::to_string(batch);
  return in_memory(result_with(more, samples_per_s), gb);
}

TEST(TooLarge, IsNoCandidateHoweverFast) {
  const Ranking ranking =
      ranked({of_batch(16, 100, 40), of_batch(32, 150, 80), of_batch(64, 200, 96.2)});
  EXPECT_EQ(ranking.sentences.front(),
            "batch 32 is the fastest: 150 samples/s, 1.5 x the next, batch 16 (100); batch 64 does "
            "not fit into memory (96.2 GB of 80 GB): not a candidate.");
  EXPECT_EQ(ranking.cells.front().result, 1U);
  EXPECT_EQ(ranking.cells.back().result, 2U);
  EXPECT_EQ(ranked({of_batch(16, 100, 40), of_batch(32, 150, 90), of_batch(64, 200, 96.2)})
                .sentences.front(),
            "batch 16 is the fastest: 100 samples/s; batch 64 and batch 32 do not fit into memory "
            "(at least 90 GB of 80 GB): no candidates.");
}

// The cell may be too large, but nothing says so.
TEST(TooLarge, IsNotWhatOnlyMayBe) {
  EXPECT_EQ(ranked({result_with({{"batch", "64"}}, 200), of_batch(32, 100, 80)}).sentences.front(),
            "batch 64 is the fastest: 200 samples/s, 2 x the next, batch 32 (100).");
}

TEST(TooLarge, IsSaidWhereNothingFits) {
  EXPECT_EQ(ranked({of_batch(16, 100, 81), of_batch(32, 150, 90)}).sentences.front(),
            "nothing fits into memory (at least 81 GB of 80 GB).");
}

TEST(TooLarge, LeavesOutWhatIsNotSteadyToo) {
  std::vector<Result> results{of_batch(16, 100, 40), of_batch(32, 150, 40), of_batch(64, 200, 90)};
  results[1].figures.halves_differ = 0.12;
  expect_mentions(ranked(results).sentences.front(),
                  {"batch 16 is the fastest: 100 samples/s; batch 32 is no candidate: the halves "
                   "of its window differ by 12 %; batch 64 does not fit"});
  results.erase(results.begin());
  expect_mentions(ranked(results).sentences.front(), {"none is known to be the fastest: batch 32"});
}

// With few workers each has a large shard; speed-up is then relative to the cells that fit.
TEST(TooLarge, IsNothingThatScalingStartsFrom) {
  const auto of = [](int workers, double gb) {
    return in_memory(result_with({{"workers", std::to_string(workers)}}, 10.0 * workers), gb);
  };
  const std::string text = ranked({of(8, 120), of(16, 70), of(32, 50)}).sentences.front();
  EXPECT_EQ(text,
            "32 workers: 320 samples/s, 2 x 16 workers, at a scaling efficiency of 80 %; 8 workers "
            "do not fit into memory (120 GB of 80 GB): not a candidate.");
}

TEST(TooLarge, IsCountedOverContests) {
  std::vector<Result> results;
  for (const char* factor : {"0.5", "1"})
    for (const int batch : {16, 64})
      results.push_back(
          of_batch(batch, batch, batch == 64 ? 90 : 40, {{"bandwidth-factor", factor}}));
  expect_mentions(
      ranked(results).sentences.front(),
      {"batch 16 is the fastest with both values of bandwidth-factor; in 2 not all fit into "
       "memory"});
  std::vector<Result> by_workers;
  for (const char* workers : {"8", "16"})
    for (const int batch : {16, 64})
      by_workers.push_back(of_batch(batch, batch, batch == 64 ? 90 : 40, {{"workers", workers}}));
  EXPECT_EQ(ranked(by_workers).sentences[1],
            "With fewer workers: batch 16 among cells that fit into memory at 8.");
}

TEST(TooLarge, IsNoPlatformsBest) {
  const auto on = [](const char* platform, int batch, double rate, double gb, double has_gb) {
    return in_memory(result_with({{"platform", platform}, {"batch", std::to_string(batch)}}, rate),
                     gb, has_gb);
  };
  const std::vector<Result> results{on("a", 1, 10, 20, 80),  on("a", 2, 20, 90, 80),
                                    on("b", 1, 12, 20, 32),  on("b", 2, 24, 90, 32),
                                    on("c", 1, 100, 20, 16), on("c", 2, 200, 90, 16)};
  EXPECT_EQ(ranked(results).sentences.front(),
            "Each by its best, platform b is the fastest: 12 samples/s (batch 1), 1.2 x the next, "
            "a: 10 samples/s (batch 1); a sample costs the same on both if an hour of the first's "
            "worker costs 1.2 times the other's; nothing fits into memory with platform c.");
}

// 64 would be the fastest and the cheapest.
TEST(TooLarge, HasNoPrice) {
  const Options price{{"price", "2"}};
  expect_mentions(ranked({of_batch(16, 100, 40, price), of_batch(32, 150, 70, price),
                          of_batch(64, 900, 90, price)})
                      .sentences.back(),
                  {"The fastest (batch 32) is also the cheapest: ", " per million samples, in "});
  for (const std::string& sentence :
       ranked({of_batch(32, 150, 90, price), of_batch(64, 900, 90, price)}).sentences)
    EXPECT_EQ(sentence.find("million samples"), std::string::npos) << sentence;
}

TEST(TooLarge, IsNotTheBestOfSeveral) {
  EXPECT_TRUE(is_better(of_batch(32, 100, 40), of_batch(64, 200, 90)));
  const Result learned = learned_result({}, 100, made_learned(0.1, 0.9));
  EXPECT_TRUE(is_better(in_memory(learned_result({}, 100, made_learned(0.5, 0.9)), 40),
                        in_memory(learned, 90)));
}

TEST(TooLarge, DoesNotLearnMost) {
  const auto of = [](const char* schedule, double loss, double gb) {
    return in_memory(learned_result({{"schedule", schedule}}, 100, made_learned(loss, 0.9)), gb);
  };
  const Ranking ranking = ranked({of("bsp", 0.3, 40), of("asp", 0.2, 40), of("inhad", 0.1, 90)});
  bool found = false;
  for (const std::string& sentence : ranking.sentences)
    found = found || sentence.starts_with("asp ends with the least loss");
  EXPECT_TRUE(found);
}

TEST(TooLarge, IsInNoChart) {
  std::vector<Result> results;
  for (const int batch : {8, 16, 32, 64})
    results.push_back(in_memory(made_result({{"batch", std::to_string(batch)}}, 10.0 * batch),
                                batch == 64 ? 90 : 40));
  const auto charts = charts_of(comparison_of(results), 0);
  ASSERT_EQ(charts.front().id, "throughput");
  EXPECT_EQ(charts.front().sentence,
            "With batch 32 bsp ring reaches 320 samples/s, 4 times what it does with batch 8. One "
            "does not fit into memory and is not drawn.");
  EXPECT_EQ(charts.front().series.front().x, (std::vector<double>{8, 16, 32}));
  for (Result& result : results)
    result = in_memory(result, 90);
  const auto none = charts_of(comparison_of(results), 0);
  expect_mentions(none.front().sentence, {"640 samples/s", "Nothing here fits into memory."});
  EXPECT_EQ(none.front().series.front().x.size(), 4U);
}

TEST(TooLarge, WinsNoTileOfAMap) {
  std::vector<Result> results;
  for (const char* workers : {"2", "4"})
    for (const char* factor : {"0.5", "1"})
      for (const std::string schedule : {"bsp", "asp"})
        results.push_back(in_memory(
            made_result(
                {{"workers", workers}, {"bandwidth-factor", factor}, {"schedule", schedule}},
                schedule == "bsp" ? 100 : 50),
            schedule == "bsp" && *workers == '2' ? 90 : 40));
  const auto maps = maps_of(comparison_of(results), ranked(results));
  ASSERT_EQ(maps.size(), 1U);
  for (const Tile& tile : maps[0].tiles)
    EXPECT_EQ(tile.first, tile.x == 0 ? "asp" : "bsp");
  expect_mentions(maps[0].sentence,
                  {"bsp wins in 2", "What does not fit into memory is left out."});
}

// Once, it was named by the file name of the first: "platform-dgx%3Anodes%3D2_batch-64".
TEST(TooLarge, IsNamedInOneWarningWithTheOthers) {
  std::vector<Result> results;
  for (const int batch : {8, 16, 32, 64, 128, 256, 512})
    results.push_back(of_batch(batch, batch, 5.0 * batch));
  results[0].figures.warnings = {Warning("another")};
  const auto warnings = warnings_of(comparison_of(results));
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_EQ(warnings[0].cells, "batch 8");
  EXPECT_EQ(warnings[1].cells, "batch 32; batch 64; batch 128; 2 more");
  EXPECT_EQ(warnings[1].text, "does not fit into memory: 160.000000 (of the first)");
}

TEST(TooLarge, IsReadAgainFromAFile) {
  const Result result = in_memory(made_result({}, 100), 90);
  const Figures figures = result_in(text_of(result)).value().figures;
  EXPECT_EQ(figures.memory_bytes, 90e9);
  EXPECT_EQ(figures.device_memory_bytes, 80e9);
  EXPECT_FALSE(figures.fits_memory());
  Figures half = figures;
  half.device_memory_bytes.reset();
  EXPECT_TRUE(half.fits_memory()) << "a file may have one of them only";
}

}  // namespace
}  // namespace syncline

// A sweep's sentences about cells that learn: which reached the target first, or ended with the
// least loss.
#include <gtest/gtest.h>

#include "sim/study/pooled.h"
#include "sim/study/ranking.h"
#include "tests/unit/errors.h"
#include "tests/unit/made_results.h"

namespace syncline {
namespace {

class LearningRanking : public testing::Test {
 protected:
  static Result cell(const std::string& schedule, double samples_per_s, const Learned& learned,
                     std::optional<double> target_s = {},
                     const std::string& until = "accuracy:0.95", const std::string& workers = "2") {
    return learned_result({{"schedule", schedule}, {"until", until}, {"workers", workers}},
                          samples_per_s, learned, target_s);
  }
  const Learned learned_ = made_learned(0.5, 0.95);
  const Learned less_ = made_learned(0.75, 0.8);
};

TEST_F(LearningRanking, IsLedByWhoReachedTheTargetFirst) {
  const Ranking ranking = ranked({cell("asp", 500, learned_, 3.4), cell("bsp", 100, learned_, 2.1),
                                  cell("ssp", 300, less_), cell("inhad", 900, made_divergence(1))});
  EXPECT_EQ(ranking.sentences.front(),
            "reached accuracy 0.95 first: bsp, 2.1 s (one seed) against 3.4 s of asp; 1 did not "
            "reach it; 1 "
            "of 4 cells diverged.");
  std::vector<std::size_t> order;
  for (const RankedCell& one : ranking.cells)
    order.push_back(one.result);
  EXPECT_EQ(order, (std::vector<std::size_t>{1, 0, 2, 3}));
  // Nor may a diverged cell be the fastest in the sentence on throughput.
  expect_mentions(ranking.sentences[1], {"asp is the fastest: 500 samples/s"});
}

TEST_F(LearningRanking, SaysThatNobodyReachedIt) {
  EXPECT_EQ(
      ranked({cell("asp", 500, less_), cell("bsp", 100, made_learned(0.5, 0.9))}).sentences.front(),
      "none reached accuracy 0.95: bsp ends with the least loss, 0.5 (90.0 % held out, after "
      "10 s; one seed); asp with the most, 0.75 (80.0 % held out, after 10 s).");
}

TEST_F(LearningRanking, WithoutATargetSaysThroughputAndLoss) {
  const Ranking ranking =
      ranked({cell("asp", 500, less_, {}, ""), cell("bsp", 100, learned_, {}, "")});
  ASSERT_EQ(ranking.sentences.size(), 2U);
  expect_mentions(ranking.sentences[0], {"asp is the fastest: 500"});
  expect_mentions(ranking.sentences[1],
                  {"bsp ends with the least loss, 0.5", "; asp with the most, 0.75"});
  EXPECT_EQ(ranking.cells.front().result, 0U);
}

TEST_F(LearningRanking, IsATieWhereTheTargetWasReachedAtOneMoment) {
  EXPECT_EQ(ranked({cell("asp", 100, less_, 2), cell("bsp", 100, learned_, 2)}).sentences.front(),
            "reached accuracy 0.95 first: bsp and asp tie at 2 s (one seed).");
}

// Seconds tie like throughput: 0.4 % apart they count as equal; 4 % apart they tie only if the
// curve's points, one per second, do not tell them apart. Once, "2.43 s against 2.43 s" had a
// winner.
TEST_F(LearningRanking, IsATieWhereTheTargetWasReachedAtTimesThatTie) {
  const auto said = [&](double first_s, double second_s, const Learned& second) {
    return ranked({cell("asp", 100, learned_, first_s), cell("bsp", 100, second, second_s)})
        .sentences.front();
  };
  EXPECT_EQ(said(2.430, 2.434, learned_),
            "reached accuracy 0.95 first: asp and bsp tie at 2.43 s (one seed).");
  EXPECT_EQ(said(2.43, 2.44, learned_),
            "reached accuracy 0.95 first: asp and bsp tie at 2.43 s to 2.44 s, less than 0.5 % "
            "apart (one seed).");
  EXPECT_EQ(
      said(2.4, 2.5, learned_),
      "reached accuracy 0.95 first: asp and bsp tie at 2.4 s to 2.5 s, within their intervals "
      "(one seed).");
  Learned often = made_learned(0.5, 0.95, 1001);  // a point each 0.01 s: 2.49, 2.5
  for (CurvePoint& point : often.curve)
    point.seconds /= 100;
  EXPECT_EQ(said(2.4, 2.5, often),
            "reached accuracy 0.95 first: asp, 2.4 s (one seed) against 2.5 s of bsp.");
}

// The sentence names the third, which is far behind; on the page, too, tied cells are not ahead of
// each other.
TEST_F(LearningRanking, NamesWhatIsBehindATie) {
  const Ranking ranking =
      ranked({cell("asp", 100, learned_, 2.43), cell("bsp", 500, learned_, 2.44),
              cell("ssp", 300, learned_, 5.0), cell("inhad", 200, less_)});
  EXPECT_EQ(ranking.sentences.front(),
            "reached accuracy 0.95 first: asp and bsp tie at 2.43 s to 2.44 s, less than 0.5 % "
            "apart (one seed) against 5 s of ssp; 1 did not reach it.");
  EXPECT_EQ(ranking.cells[0].result, 0U);
  EXPECT_EQ(ranking.cells[0].level_with, 1U);
  EXPECT_EQ(ranking.cells[1].level_with, 0U);  // although it alone leads in throughput
}

// Four seeds each, 1 s apart: their standard deviation is 1.29 s, so half an interval is 3.18 *
// 1.29 / 2 = 2.05 s, and 7 and 7.2 s tie. With seeds 0.01 s apart it is 0.0205 s, and throughput is
// known to 1 %: the ends are 7.07 s and 7.128 s, and there is a winner.
TEST_F(LearningRanking, KnowsSecondsOfSeveralSeedsAsWellAsTheyAgree) {
  const auto pooled_cell = [&](const char* schedule, double middle_s, double apart_s) {
    std::vector<Result> seeds;
    for (int seed = 0; seed < 4; ++seed) {
      Learned learned = made_learned(0.5, 0.95, 1001);
      for (CurvePoint& point : learned.curve)
        point.seconds /= 100;
      seeds.push_back(learned_result(
          {{"schedule", schedule}, {"until", "accuracy:0.95"}, {"seed", std::to_string(seed + 1)}},
          100, learned, middle_s + apart_s * (seed - 1.5)));
    }
    return pool_of(seeds);
  };
  expect_mentions(ranked({pooled_cell("asp", 7, 1), pooled_cell("bsp", 7.2, 1)}).sentences.front(),
                  {"asp and bsp tie at 7 s to 7.2 s, within their intervals (medians of 4 seeds)"});
  expect_mentions(
      ranked({pooled_cell("asp", 7, 0.01), pooled_cell("bsp", 7.2, 0.01)}).sentences.front(),
      {"first: asp, 7 s (median of 4 seeds", "against 7.2 s of bsp"});
}

TEST_F(LearningRanking, IsATieWhereTheLeastLossIsOneNumber) {
  expect_mentions(ranked({cell("asp", 100, made_learned(0.5001, 0.8)),
                          cell("bsp", 100, made_learned(0.5, 0.8)), cell("ssp", 100, less_)})
                      .sentences.front(),
                  {"bsp and asp tie with the least loss, 0.5 ", "; ssp with the most, 0.75"});
}

// The curve has one point per second.
TEST_F(LearningRanking, SaysWhereTheTargetWasPerhapsMetInAnotherOrder) {
  EXPECT_EQ(
      ranked({cell("asp", 100, learned_, 2.5), cell("bsp", 100, learned_, 2.1)}).sentences.front(),
      "reached accuracy 0.95 first: bsp, 2.1 s (one seed) against 2.5 s of asp (a smaller "
      "evaluate-every may say otherwise).");
}

TEST_F(LearningRanking, SaysWhoHadMoreSamples) {
  Learned more = less_;
  more.curve.back().samples *= 2;
  expect_mentions(
      ranked({cell("asp", 500, more, {}, ""), cell("bsp", 100, learned_, {}, "")}).sentences[1],
      {"after 10 s and 5,000 samples; one seed)", "after 10 s and 10,000 samples)"});
}

TEST_F(LearningRanking, NeverComparesOtherLessonsWhateverTheyAreCalled) {
  const auto named = [&](const std::string& name, const std::string& learn,
                         const std::string& until) {
    return learned_result({{"name", name}, {"learn", learn}, {"until", until}}, 100, learned_, 1.0);
  };
  for (const std::string& sentence :
       ranked({named("a", "mlp", "loss:0.5"), named("b", "softmax", "loss:0.5"),
               named("c", "mlp", "accuracy:0.5")})
           .sentences)
    EXPECT_EQ(sentence.find("first"), std::string::npos) << sentence;
}

TEST_F(LearningRanking, NeverCallsWhatDivergedTheWinner) {
  const Ranking one = ranked({cell("asp", 500, made_divergence(1)), cell("bsp", 100, learned_)});
  for (const std::string& sentence : one.sentences)
    EXPECT_EQ(sentence.find("asp"), std::string::npos) << sentence;
  EXPECT_EQ(one.cells.front().result, 1U);
  ASSERT_EQ(one.cells.size(), 2U);
  const Ranking none =
      ranked({cell("asp", 500, made_divergence(1)), cell("bsp", 100, made_divergence(2))});
  EXPECT_EQ(none.sentences, std::vector<std::string>{"2 of 2 cells diverged."});
  EXPECT_EQ(none.cells.size(), 2U);
}

TEST_F(LearningRanking, ComparesWithinANumberOfWorkers) {
  const auto of = [&](const char* schedule, const char* workers, double target_s) {
    return cell(schedule, 100, learned_, target_s, "accuracy:0.95", workers);
  };
  EXPECT_EQ(ranked({of("asp", "2", 1), of("bsp", "2", 2), of("asp", "4", 2), of("bsp", "4", 1)})
                .sentences.front(),
            "at 4 workers reached accuracy 0.95 first: bsp, 1 s (one seed) against 2 s of asp.");
}

TEST_F(LearningRanking, CountsWhereMoreDiffers) {
  std::vector<Result> results;
  for (const char* seed : {"1", "2", "3"})
    for (const std::string schedule : {"asp", "bsp"})
      results.push_back(learned_result(
          {{"schedule", schedule}, {"seed", seed}, {"until", "accuracy:0.95"}}, 100, learned_,
          seed[0] == '3' ? std::nullopt : std::optional(schedule == "asp" ? 1.0 : 2.0)));
  EXPECT_EQ(ranked(results).sentences.front(),
            "of 3 combinations, each of one seed, the target was reached first by asp in 2 and "
            "nobody in 1.");
}

}  // namespace
}  // namespace syncline

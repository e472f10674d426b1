// What a sweep says of cells that learn: who reached the target first, or ended with the least
// loss.
#include <gtest/gtest.h>

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
  const Ranking ranking = rank({cell("asp", 500, learned_, 3.4), cell("bsp", 100, learned_, 2.1),
                                cell("ssp", 300, less_), cell("inhad", 900, made_divergence(1))});
  EXPECT_EQ(ranking.sentences.front(),
            "reached accuracy 0.95 first: bsp, 2.1 s (one seed) against 3.4 s of asp; 1 did not "
            "reach it; 1 "
            "of 4 cells diverged.");
  std::vector<std::size_t> order;
  for (const RankedCell& one : ranking.cells)
    order.push_back(one.result);
  EXPECT_EQ(order, (std::vector<std::size_t>{1, 0, 2, 3}));
  // Nor is what diverged the fastest in the sentence on throughput.
  expect_mentions(ranking.sentences[1], {"asp is the fastest: 500 samples/s"});
}

TEST_F(LearningRanking, SaysThatNobodyReachedIt) {
  EXPECT_EQ(
      rank({cell("asp", 500, less_), cell("bsp", 100, made_learned(0.5, 0.9))}).sentences.front(),
      "none reached accuracy 0.95: bsp ends with the least loss, 0.5 (90.0 % held out, after "
      "10 s; one seed); asp with the most, 0.75 (80.0 % held out, after 10 s).");
}

TEST_F(LearningRanking, WithoutATargetSaysThroughputAndLoss) {
  const Ranking ranking =
      rank({cell("asp", 500, less_, {}, ""), cell("bsp", 100, learned_, {}, "")});
  ASSERT_EQ(ranking.sentences.size(), 2U);
  expect_mentions(ranking.sentences[0], {"asp is the fastest: 500"});
  expect_mentions(ranking.sentences[1],
                  {"bsp ends with the least loss, 0.5", "; asp with the most, 0.75"});
  EXPECT_EQ(ranking.cells.front().result, 0U);
}

TEST_F(LearningRanking, IsATieWhereTheTargetWasReachedAtOneMoment) {
  EXPECT_EQ(rank({cell("asp", 100, less_, 2), cell("bsp", 100, learned_, 2)}).sentences.front(),
            "reached accuracy 0.95 first: bsp and asp, 2 s (one seed).");
}

// The curve has a point each second.
TEST_F(LearningRanking, SaysWhereTheTargetWasPerhapsMetInAnotherOrder) {
  EXPECT_EQ(
      rank({cell("asp", 100, learned_, 2.5), cell("bsp", 100, learned_, 2.1)}).sentences.front(),
      "reached accuracy 0.95 first: bsp, 2.1 s (one seed) against 2.5 s of asp (a smaller "
      "evaluate-every may say otherwise).");
}

TEST_F(LearningRanking, SaysWhoHadMoreSamples) {
  Learned more = less_;
  more.curve.back().samples *= 2;
  expect_mentions(
      rank({cell("asp", 500, more, {}, ""), cell("bsp", 100, learned_, {}, "")}).sentences[1],
      {"after 10 s and 5,000 samples; one seed)", "after 10 s and 10,000 samples)"});
}

TEST_F(LearningRanking, NeverComparesOtherLessonsWhateverTheyAreCalled) {
  const auto named = [&](const std::string& name, const std::string& learn,
                         const std::string& until) {
    return learned_result({{"name", name}, {"learn", learn}, {"until", until}}, 100, learned_, 1.0);
  };
  for (const std::string& sentence :
       rank({named("a", "mlp", "loss:0.5"), named("b", "softmax", "loss:0.5"),
             named("c", "mlp", "accuracy:0.5")})
           .sentences)
    EXPECT_EQ(sentence.find("first"), std::string::npos) << sentence;
}

TEST_F(LearningRanking, NeverCallsWhatDivergedTheWinner) {
  const Ranking one = rank({cell("asp", 500, made_divergence(1)), cell("bsp", 100, learned_)});
  for (const std::string& sentence : one.sentences)
    EXPECT_EQ(sentence.find("asp"), std::string::npos) << sentence;
  EXPECT_EQ(one.cells.front().result, 1U);
  ASSERT_EQ(one.cells.size(), 2U);
  const Ranking none =
      rank({cell("asp", 500, made_divergence(1)), cell("bsp", 100, made_divergence(2))});
  EXPECT_EQ(none.sentences, std::vector<std::string>{"2 of 2 cells diverged."});
  EXPECT_EQ(none.cells.size(), 2U);
}

TEST_F(LearningRanking, ComparesWithinANumberOfWorkers) {
  const auto of = [&](const char* schedule, const char* workers, double target_s) {
    return cell(schedule, 100, learned_, target_s, "accuracy:0.95", workers);
  };
  EXPECT_EQ(rank({of("asp", "2", 1), of("bsp", "2", 2), of("asp", "4", 2), of("bsp", "4", 1)})
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
  EXPECT_EQ(rank(results).sentences.front(),
            "of 3 combinations, each of one seed, the target was reached first by asp in 2 and "
            "nobody in 1.");
}

}  // namespace
}  // namespace syncline

// What an option means for cells that differ in it is defined in one place, its row: the ranking
// and the page agree.
#include <gtest/gtest.h>
#include <set>
#include <tuple>

#include "sim/options/options.h"
#include "sim/study/comparison.h"
#include "sim/study/names.h"
#include "sim/study/pooled.h"
#include "sim/study/ranking.h"
#include "tests/unit/errors.h"
#include "tests/unit/made_results.h"

namespace syncline {
namespace {

// Cells of two schedules, each with two values of this option.
std::vector<Result> crossed(const std::string& option) {
  std::vector<Result> results;
  for (const char* schedule : {"bsp", "asp"})
    for (const char* value : {"1", "2"})
      results.push_back(made_result({{"schedule", schedule}, {option, value}}, 100));
  return results;
}

std::vector<Result> alone(const std::string& option) {
  return {made_result({{option, "1"}}, 100), made_result({{option, "2"}}, 200)};
}

TEST(Roles, DecideWhetherCellsCompeteAndShareCharts) {
  std::set<Role> seen;
  for (const Option& option : scenario_options()) {
    if (option.name == "schedule")
      continue;
    seen.insert(option.role);
    const std::vector<Result> results = crossed(option.name);
    EXPECT_EQ(ranked(results).contests.size(), option.role == Role::choice ? 1U : 2U)
        << option.name;
    const bool share =
        option.role == Role::choice || option.role == Role::run || option.role == Role::purchase;
    const Comparison compared = comparison_of(results);
    if (compared.x_option != option.name) {  // it is the axis of the curves
      EXPECT_EQ(compared.cases.size(), share ? 1U : 2U) << option.name;
    }
  }
  EXPECT_EQ(seen.size(), 6U);
}

TEST(Roles, LetWhatIsAskedAboutCompeteWhereNothingElseDiffers) {
  for (const Option& option : scenario_options()) {
    const std::vector<Result> results = alone(option.name);
    const bool competes = option.role == Role::choice || option.role == Role::question ||
                          option.role == Role::purchase;
    EXPECT_EQ(ranked(results).contests.size(), competes ? 1U : 2U) << option.name;
    EXPECT_EQ(ranked(results).sentences.empty(), !competes) << option.name;
    const bool share = competes || option.role == Role::run;
    EXPECT_EQ(comparison_of(results).cases.size(), share ? 1U : 2U) << option.name;
  }
}

// Named cells all compete, whatever they differ in, except with cells of other learning problems.
TEST(Roles, AreOfNoMatterToNamedCells) {
  for (const Option& option : scenario_options()) {
    std::vector<Result> results{made_result({{"name", "one"}, {option.name, "1"}}, 100),
                                made_result({{"name", "two"}, {option.name, "2"}}, 200)};
    EXPECT_EQ(ranked(results).contests.size(), option.role == Role::learning ? 2U : 1U)
        << option.name;
    EXPECT_EQ(comparison_of(results).cases.size(), 1U) << option.name;
  }
}

TEST(Roles, LetPlatformsCompeteEachByItsBest) {
  std::vector<Result> results;
  for (const auto& [platform, exchange, samples_per_s] : {std::tuple("dgx:nodes=2", "ring", 100.0),
                                                          {"dgx:nodes=2", "tree", 150.0},
                                                          {"dgx:nodes=4", "ring", 300.0},
                                                          {"dgx:nodes=4", "tree", 200.0}})
    results.push_back(made_result({{"platform", platform}, {"exchange", exchange}}, samples_per_s));
  const Ranking ranking = ranked(results);
  EXPECT_EQ(ranking.contests.size(), 2U);
  EXPECT_EQ(
      ranking.sentences.front(),
      "Each by its best, platform dgx:nodes=4 is the fastest: 300 samples/s (ring), 2 x the "
      "next, dgx:nodes=2: 150 samples/s (tree); a sample costs the same on both if an hour of "
      "the first's worker costs 2 times the other's.");
  for (Result& result : results)
    if (result.option("platform") == "dgx:nodes=4")
      result.figures.worker_count = 5;
  EXPECT_NE(ranked(results).sentences.front().find("costs 0.8 times the other's"),
            std::string::npos);
  const Comparison compared = comparison_of(results);
  EXPECT_EQ(compared.cases.size(), 1U);
  EXPECT_EQ(compared.cells[3].series, "nodes=4 tree") << "all are dgx";
  results.push_back(made_result({{"platform", "dgx:nodes=4"}, {"model", "vgg16"}}, 900));
  EXPECT_FALSE(ranked(results).sentences.front().starts_with("Each")) << "of another model";
}

// An assumption is no choice: platforms compete at each assumed value.
TEST(Roles, LetPlatformsCompeteWhereNothingIsChosen) {
  std::vector<Result> results;
  for (const auto& [platform, slowdown, samples_per_s] : {std::tuple("dgx:nodes=2", "0", 150.0),
                                                          {"dgx:nodes=2", "published", 100.0},
                                                          {"dgx:nodes=4", "0", 300.0},
                                                          {"dgx:nodes=4", "published", 210.0}})
    results.push_back(
        made_result({{"platform", platform}, {"overlap-slowdown", slowdown}}, samples_per_s));
  const Ranking ranking = ranked(results);
  EXPECT_EQ(ranking.contests.size(), 2U);
  EXPECT_EQ(ranking.sentences,
            (std::vector<std::string>{
                "platform dgx:nodes=4 is the fastest with both values of overlap-slowdown.",
                "The largest lead is at overlap-slowdown published: platform dgx:nodes=4 is the "
                "fastest: 210 samples/s (its gradients miss 3 others), 2.1 x the next, platform "
                "dgx:nodes=2 (100)."}));
  // Without common values each platform competes as it is.
  results.erase(results.begin() + 1, results.begin() + 3);
  EXPECT_EQ(ranked(results).contests.size(), 1U);
}

// A platform that mixes devices and one with a single device: each price is listed once.
TEST(Roles, OfPlatformsNameEachPriceOnce) {
  std::vector<Result> results{made_result({{"platform", "mixed"}, {"price", "devices"}}, 100),
                              made_result({{"platform", "alike"}, {"price", "devices"}}, 200)};
  const std::string h100 = "h100 3.99 USD/h (seller, 2026-09-20)";
  const std::string a100 = "a100 1.99 USD/h (seller, 2026-09-20)";
  results[0].provenance.price = h100 + "; " + a100;
  results[1].provenance.price = h100;
  for (Result& result : results)
    result.figures.epoch_cost = 3;
  expect_mentions(ranked(results).sentences.back(), {" Prices: " + a100 + "; " + h100 + "."});
}

TEST(Roles, OfPlatformsOfOneStemHaveWholeNames) {
  const std::vector<Result> results{made_result({{"platform", "a/p.xml"}}, 100),
                                    made_result({{"platform", "b/p.xml"}}, 200),
                                    made_result({{"platform", "b/q.xml"}}, 300)};
  const Comparison compared = comparison_of(results);
  EXPECT_EQ(compared.cells[0].series, "a/p.xml");
  EXPECT_EQ(compared.cells[1].series, "b/p.xml");
  EXPECT_EQ(compared.cells[2].series, "q");
  EXPECT_NE(subject_of({&results[0]}, results), subject_of({&results[1]}, results));
}

TEST(Roles, OfBatchIsAChoiceAndOfTheNetworkModelIsNot) {
  EXPECT_EQ(role_of("batch"), Role::choice);
  EXPECT_EQ(role_of("precision"), Role::choice);
  EXPECT_EQ(role_of("servers"), Role::choice);
  EXPECT_EQ(role_of("network"), Role::subject);
  EXPECT_EQ(role_of("platform"), Role::purchase);
  EXPECT_EQ(role_of("jitter"), Role::question);
  EXPECT_EQ(role_of("skew"), Role::question);
  EXPECT_EQ(role_of("hidden"), Role::learning) << "a parameter of a problem";
  EXPECT_EQ(role_of("density"), Role::choice);
  EXPECT_EQ(role_of("of a newer version"), Role::choice);
}

// An exchange brings options of its own, in which cells differ without anybody's choice; once,
// best-of = exchange did nothing because of them.
TEST(BestOf, ChoosesAmongVariantsThatHaveOptionsOfTheirOwn) {
  const auto cell = [](const std::string& batch, const std::string& exchange, double samples_per_s,
                       const std::pair<std::string, std::string>& own) {
    return made_result({{"batch", batch},
                        {"exchange", exchange},
                        {"best-of", "exchange"},
                        {"best-of-seeds", "seed 1"},
                        {"seed", "1"},
                        own},
                       samples_per_s);
  };
  std::vector<Result> cells{cell("1", "ring", 50, {"chunk-bytes", "100"}),
                            cell("1", "tree", 60, {"partition-bytes", "9"}),
                            cell("4", "ring", 110, {"chunk-bytes", "100"}),
                            cell("4", "tree", 90, {"partition-bytes", "9"})};
  const Pool pool = pooled(cells);
  ASSERT_EQ(pool.results.size(), 2U);
  EXPECT_EQ(pool.results[0].option("exchange"), "tree");
  EXPECT_EQ(pool.results[1].option("exchange"), "ring");
  expect_mentions(pool.notes.front(), {"best-of = exchange: of 2 each has the fastest"});
  // An option that is swept as well is a choice of its own, which a tree does not have.
  cells.push_back(cell("4", "ring", 120, {"chunk-bytes", "200"}));
  EXPECT_EQ(pooled(cells).results.size(), cells.size());
}

}  // namespace
}  // namespace syncline

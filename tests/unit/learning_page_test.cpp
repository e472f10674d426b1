// Learning curves in a report: which are drawn, and in how much detail.
#include <gtest/gtest.h>

#include "sim/page/page.h"
#include "sim/page/page_parts.h"
#include "sim/page/svg.h"
#include "sim/study/charts.h"
#include "tests/unit/errors.h"
#include "tests/unit/made_results.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

Result cell(const std::string& schedule, const Learned& learned,
            std::optional<double> target_s = {}) {
  Learned own = learned;
  own.target_s = target_s;
  return made_result({{"schedule", schedule}, {"until", "accuracy:0.8"}}, 100, 4, own);
}

std::vector<Chart> charts(const std::vector<Result>& results) {
  return learning_charts(comparison_of(results), 0);
}

TEST(LearningCharts, AreOfLossAndAccuracyAgainstThreeThings) {
  const auto all =
      charts({cell("asp", made_learned(0.25, 0.7)), cell("bsp", made_learned(0.5, 0.9), 8)});
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[2].variant, "seconds");  // the view shown first
  EXPECT_EQ(all[2].sentence, "asp ends with loss 0.25 after 10 s, bsp with 0.5 after 10 s.");
  EXPECT_EQ(all[2].y.scale, Scale::log10);  // from 2 to 0.25
  EXPECT_EQ(all[0].x.unit, "B");
  EXPECT_EQ(all[0].sentence, "asp ends with loss 0.25 after 10 MB, bsp with 0.5 after 10 MB.");
  EXPECT_EQ(all[5].sentence,
            "bsp reaches accuracy 0.8 after 8 s; 1 misses it; bsp ends with accuracy 90.0 % "
            "after 10 s, asp with 70.0 % after 10 s.");
  // bsp reached the target, so it comes first; then asp and the target's line.
  ASSERT_EQ(all[5].series.size(), 3U);
  EXPECT_EQ(all[5].series[0].name, "bsp");
  EXPECT_EQ(all[5].series[0].x.size(), 11U);
  EXPECT_EQ(all[5].series[2].name, "accuracy 0.8");
  EXPECT_EQ(all[5].series[2].y, (std::vector<double>{0.8, 0.8}));
  EXPECT_EQ(all[5].series[2].x, (std::vector<double>{0, 10}));
  EXPECT_EQ(all[2].series.size(), 2U);
}

TEST(LearningCharts, AreThinnedWithoutTheirEnds) {
  const Learned learned = made_learned(0.5, 0.9, 12345);
  const auto all = charts({cell("asp", learned), cell("bsp", learned)});
  const Series& line = all[2].series[0];
  EXPECT_EQ(line.x.size(), 200U);
  EXPECT_EQ(line.x.front(), 0);
  EXPECT_EQ(line.x.back(), 12344);
  EXPECT_EQ(line.y.back(), 0.5);
}

TEST(LearningCharts, HaveNoPointsThatAreNoNumbers) {
  const auto all = charts({cell("asp", made_divergence(2)), cell("bsp", made_learned(0.5, 0.9))});
  EXPECT_EQ(all[2].series[1].y, (std::vector<double>{2, 2}));
  expect_mentions(all[2].sentence, {"bsp ends with loss 0.5", "; 1 diverges"});
}

TEST(LearningCharts, AreNotThereWhereNothingMoves) {
  EXPECT_TRUE(charts({made_result({}, 100)}).empty());
  EXPECT_TRUE(charts({cell("asp", made_learned(0.5, 0.9, 1))}).empty());
  Learned one_worker = made_learned(0.5, 0.9);
  for (CurvePoint& point : one_worker.curve)
    point.bytes = 0;
  EXPECT_EQ(charts({cell("asp", one_worker)}).size(), 4U);
  Learned solved = made_learned(0.5, 0.9);
  for (CurvePoint& point : solved.curve)
    point.loss = 0;
  EXPECT_EQ(charts({cell("asp", solved)}).size(), 3U);
}

TEST(LearningCharts, AreFiguresAndInTheSummary) {
  const PageContent content{
      .results = {cell("asp", made_learned(0.25, 0.7)), cell("bsp", made_learned(0.5, 0.9), 8)},
      .rows = {},
      .missing = {}};
  std::vector<std::string> names;
  for (const Drawing& figure : drawings_of(content)) {
    names.push_back(figure.name);
    EXPECT_TRUE(figure.svg.starts_with(svg_begin) && figure.svg.ends_with("</svg>\n"));
    EXPECT_EQ(figure.svg.find("nan"), std::string::npos) << figure.name;
  }
  EXPECT_EQ(std::vector<std::string>(names.begin(), names.begin() + 2),
            (std::vector<std::string>{"loss-resnet50-batch-32-two-hosts.svg",
                                      "accuracy-resnet50-batch-32-two-hosts.svg"}));
  expect_mentions(summary_of(content),
                  {"**reached accuracy 0.8 first: bsp, 8 s \\(one seed\\); 1 did not reach it.**",
                   "| cell | samples/s | scaling | loss | accuracy | target |",
                   "| bsp | 100.0 | 80.0 % | 0.5 | 90.0 % | 8 s |"});
}

class LearningPage : public testing::Test {
  void SetUp() override {
    if (page_parts::chart_js.empty())
      GTEST_SKIP() << "built without Chart.js (libjs-chart.js)";
  }

 protected:
  static Json data_of(const std::vector<Result>& results, std::size_t& bytes) {
    const std::string page = page_of({.results = results, .rows = {}, .missing = {}});
    bytes = page.size();
    const std::string begin = "<script type=\"application/json\" id=\"data\">";
    const std::size_t from = page.find(begin) + begin.size();
    return Json::parse(page.substr(from, page.find("</script>", from) - from));
  }
  std::size_t bytes_ = 0;
};

TEST_F(LearningPage, HasCurvesColumnsAndFacts) {
  const Json data =
      data_of({cell("asp", made_learned(0.25, 0.7)), cell("bsp", made_learned(0.5, 0.9), 8),
               cell("ssp", made_divergence(1))},
              bytes_);
  const Json& chart = data["cases"][0]["charts"][0];
  EXPECT_EQ(chart["id"], "loss");
  EXPECT_EQ(chart["kind"], "curves");
  const Json& best = data["cases"][0]["best"];
  EXPECT_EQ(best["name"], "bsp");
  EXPECT_EQ(best["facts"][4]["value"], "0.5");
  EXPECT_EQ(best["facts"][6], (Json{{"name", "to accuracy 0.8"}, {"value", "8 s"}}));
  std::vector<std::string> titles;
  for (const Json& column : data["table"]["columns"])
    titles.push_back(column["title"]);
  const auto at = std::ranges::find(titles, "loss") - titles.begin();
  EXPECT_EQ(titles.at(static_cast<std::size_t>(at) + 2), "target");
  EXPECT_EQ(data["table"]["rows"][0][static_cast<std::size_t>(at)], 0.5);
  EXPECT_EQ(data["table"]["rows"][2][static_cast<std::size_t>(at)], nullptr);  // diverged
}

TEST_F(LearningPage, OfOnlyDivergencesHasNoBest) {
  EXPECT_TRUE(data_of({cell("asp", made_divergence(2)), cell("bsp", made_divergence(1))},
                      bytes_)["cases"][0]["best"]
                  .is_null());
}

TEST_F(LearningPage, OfFiveHundredCellsIsBelowTwoMegabytes) {
  std::vector<Result> results;
  const Learned learned = made_learned(0.123456789, 0.987654321, 400);
  for (int i = 0; i < 500; ++i)
    results.push_back(made_result({{"density", "0." + std::to_string(100 + i / 25)},
                                   {"platform", "p" + std::to_string(i % 25)}},
                                  100 + i, 4, learned));
  data_of(results, bytes_);
  EXPECT_LT(bytes_, 2'000'000U);
}

}  // namespace
}  // namespace syncline

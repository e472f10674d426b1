// The page, the summary and the figures of made results: what they say, and that no text of a
// result becomes markup.
#include "sim/page/page.h"

#include <expat.h>
#include <gtest/gtest.h>
#include <regex>

#include "sim/page/colours.h"
#include "sim/page/drawn_timeline.h"
#include "sim/page/page_parts.h"
#include "sim/page/svg.h"
#include "sim/page/tables.h"
#include "sim/study/charts.h"
#include "sim/study/comparison.h"
#include "sim/study/names.h"
#include "tests/unit/made_results.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

const std::string script = "<script>alert(1)</script>";

PageContent content_of(std::vector<Result> results) {
  return {.results = std::move(results), .rows = {}, .missing = {}};
}

std::string data_text_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t from = page.find(begin) + begin.size();
  return page.substr(from, page.find("</script>", from) - from);
}

Json data_of(const PageContent& content) {
  return Json::parse(data_text_of(page_of(content)));
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

bool is_well_formed(const std::string& xml) {
  XML_Parser parser = XML_ParserCreate(nullptr);
  const bool whole =
      XML_Parse(parser, xml.data(), static_cast<int>(xml.size()), 1) == XML_STATUS_OK;
  XML_ParserFree(parser);
  return whole;
}

class Page : public testing::Test {
  void SetUp() override {
    if (page_parts::chart_js.empty())
      GTEST_SKIP() << "built without Chart.js (libjs-chart.js)";
  }
};

TEST_F(Page, IsOneFileThatNeedsNoOther) {
  const std::string page = page_of(content_of(made_sweep()));
  EXPECT_TRUE(page.starts_with(page_begin));
  EXPECT_TRUE(std::regex_search(page, std::regex("default-src 'none'")));
  for (const char* outside : {"<img", "<iframe", "<script src", "rel=\"stylesheet\"", "{{"})
    EXPECT_EQ(count(page.substr(0, page.find("/*!")), outside), 0U) << outside;
  EXPECT_LT(page.size(), 350'000U);  // Chart.js alone has 200'000
}

TEST_F(Page, StringsOfResultsAreNeverMarkup) {
  const std::string plain_page = page_of(content_of({made_result({{"model", "m"}}, 100)}));
  for (const std::string& bad : {script, std::string("</script>"), std::string("<!--<script>"),
                                 std::string("\xE2\x80\xA8&amp;\xE2\x80\xA9")}) {
    Result result = made_result({{"model", bad}, {"schedule", bad}}, 100);
    result.figures.bottleneck = bad;
    result.figures.warnings = {Warning(bad)};
    result.figures.busiest_links[0].name = bad;
    result.provenance.compute = bad;
    result.timeline.tracks[0].name = bad;
    const std::string page = page_of(content_of({result, made_result({{"model", "m"}}, 90)}));
    const std::string text = data_text_of(page);
    EXPECT_EQ(text.find_first_of("<>&"), std::string::npos);
    EXPECT_EQ(text.find("\xE2\x80\xA8"), std::string::npos);
    EXPECT_NE(Json::parse(text).dump().find(Json(bad).dump().substr(1, 6)), std::string::npos);
    EXPECT_EQ(count(page, "<script"), count(plain_page, "<script"));
    EXPECT_EQ(count(page, "</script>"), count(plain_page, "</script>"));
  }
}

TEST_F(Page, HasTheTimelinesOfTheTwelveBestCells) {
  const Json data = data_of(content_of(made_sweep()));
  EXPECT_EQ(data["timelines"].size(), 8U);
  EXPECT_EQ(data["timelines"][0]["name"], "bsp, 8 workers");
  const auto& slices = data["timelines"][0]["tracks"][0]["slices"];
  EXPECT_EQ(slices[0].dump(), "[0,22500,0,0,7]");
  EXPECT_EQ(slices[1].dump(), "[25000,47500,1,1,7]");
}

// Three platforms of ten cells: the page shows the best and the slowest of each, not only of the
// fastest platform.
TEST_F(Page, HasBestAndTimelinesOfEachCase) {
  std::vector<Result> results;
  for (int i = 0; i < 30; ++i)
    results.push_back(made_result(
        {{"platform", "p" + std::to_string(i / 10)}, {"schedule", "s" + std::to_string(i % 10)}},
        100 + 1000 * (i / 10) + i % 10));
  const Json data = data_of(content_of(results));
  ASSERT_EQ(data["cases"].size(), 3U);
  EXPECT_EQ(data["timelines"].size(), 12U);
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<std::string> names;
    for (const Json& timeline : data["timelines"])
      if (timeline["case"] == i)
        names.push_back(timeline["name"]);
    ASSERT_EQ(names.size(), 4U);
    EXPECT_EQ(data["cases"][i]["best"]["name"], names.front());
    EXPECT_NE(names.front().find("s9"), std::string::npos) << names.front();
    EXPECT_NE(names.back().find("s0"), std::string::npos) << names.back();
  }
}

TEST_F(Page, OfFiveHundredCellsIsBelowTwoMegabytes) {
  std::vector<Result> results;
  for (int i = 0; i < 500; ++i)
    results.push_back(made_result(
        {{"workers", std::to_string(1 + i % 20)}, {"density", "0." + std::to_string(100 + i / 20)}},
        100 + i, i < 480 ? 4 : 1500));  // among the best
  const std::string page = page_of(content_of(std::move(results)));
  EXPECT_LT(page.size(), 2'000'000U);
  const Json data = Json::parse(data_text_of(page));
  EXPECT_EQ(data["timelines"].size(), 12U);
  EXPECT_EQ(data["table"]["rows"].size(), 500U);
}

TEST_F(Page, OfOneCellHasNoCurves) {
  const Json data = data_of(content_of({made_result({}, 100)}));
  ASSERT_EQ(data["cases"].size(), 1U);
  EXPECT_EQ(data["cases"][0]["charts"][0]["id"], "breakdown");
  EXPECT_EQ(data["cases"][0]["best"]["facts"][0]["value"], "100");
  EXPECT_EQ(data["lead"][0], "resnet50 on two-hosts with 2 workers, bsp ring: 100 samples/s.");
}

TEST_F(Page, OfAValidationHasItsRows) {
  PageContent content = content_of({made_result({}, 90), made_result({}, 220)});
  content.rows = {{.folder = "folder", .label = "two", .measured = 100, .simulated = 90},
                  {.folder = "folder", .label = "four", .measured = 200, .simulated = 220}};
  const Json data = data_of(content);
  EXPECT_EQ(data["agreement"]["series"][0]["notes"][0], "two, -10.0 %");
  EXPECT_TRUE(data["cases"].empty());
}

TEST(Comparison, NamesCellsByWhatTellsThemApart) {
  const std::vector<Result> results = made_sweep();
  const Comparison compared = comparison_of(results);
  EXPECT_EQ(compared.x_option, "workers");
  EXPECT_EQ(compared.cells[0].name, "bsp, 1 worker");
  EXPECT_EQ(compared.cells[3].name, "asp, 2 workers");
  EXPECT_EQ(compared.cells[0].colour, compared.cells[2].colour);
  EXPECT_NE(compared.cells[0].colour, compared.cells[1].colour);
}

TEST(Comparison, DoesNotCompareModels) {
  std::vector<Result> results;
  for (const std::string model : {"resnet50", "vgg16"})
    for (const std::string schedule : {"bsp", "asp"})
      results.push_back(made_result({{"model", model}, {"schedule", schedule}}, 100));
  const Comparison compared = comparison_of(results);
  EXPECT_EQ(compared.cases, (std::vector<std::string>{"resnet50", "vgg16"}));
  EXPECT_EQ(compared.cells[3].series, "asp");
}

TEST(Charts, SayWhatTheyShow) {
  const std::vector<Result> results = made_sweep();
  const Comparison compared = comparison_of(results);
  const auto charts = charts_of(compared, 0);
  EXPECT_EQ(charts[0].sentence,
            "With 8 workers bsp reaches 800 samples/s, 8 times what it does with 1 worker; asp, "
            "the slowest, 640 samples/s.");
  EXPECT_EQ(charts[0].series.back().name, "ideal");  // throughput / efficiency
  EXPECT_DOUBLE_EQ(charts[0].series.back().y.back(), (800 + 640) / 2 / 0.8);
  EXPECT_EQ(charts[2].id, "breakdown");
  EXPECT_EQ(
      charts[2].sentence,
      "An iteration of bsp takes 250 ms: 80 % computation, 16 % exposed communication and 4 % "
      "waiting.");
}

TEST(Maps, DrawTheLineWhereTwoChoicesAreAsFast) {
  // bsp takes 1 + w, asp 2 + w/2, over bandwidth b and workers w: equal at w = 2.
  std::vector<Result> results;
  for (const int workers : {1, 2, 4, 8})
    for (const std::string bandwidth : {"1", "10"})
      for (const std::string schedule : {"bsp", "asp"})
        results.push_back(made_result(
            {{"workers", std::to_string(workers)},
             {"bandwidth-factor", bandwidth},
             {"schedule", schedule}},
            schedule == "bsp" ? 100.0 : 100.0 * workers / (bandwidth == "1" ? 3.0 : 6.0)));
  const auto maps = maps_of(comparison_of(results), ranked(results));
  ASSERT_EQ(maps.size(), 1U);
  EXPECT_EQ(maps[0].tiles.size(), 8U);
  ASSERT_EQ(maps[0].crossings.size(), 2U);
  // At bandwidth 1 they meet at 3 workers: log(3/2) / log 2 = 0.585 of the way from 2 to 4.
  EXPECT_NEAR(maps[0].crossings[0].from_x, 1.585, 1e-3);
  EXPECT_NEAR(maps[0].crossings[0].from_y, 0, 1e-9);
}

// With a lead below half a percent a place has no winner, and nobody's colour.
TEST(Maps, HaveNoWinnerWhereTheLeadIsNone) {
  std::vector<Result> results;
  for (const int workers : {1, 2, 4})
    for (const std::string bandwidth : {"1", "10"})
      for (const std::string schedule : {"bsp", "asp"})
        results.push_back(
            made_result({{"workers", std::to_string(workers)},
                         {"bandwidth-factor", bandwidth},
                         {"schedule", schedule}},
                        schedule == "bsp" ? 100 : 100 * (workers == 1 ? 1.004 : workers * 1.0)));
  const auto maps = maps_of(comparison_of(results), ranked(results));
  ASSERT_EQ(maps.size(), 1U);
  for (const Tile& tile : maps[0].tiles)
    EXPECT_EQ(tile.winner.has_value(), tile.x != 0) << tile.x << ", " << tile.y;
  EXPECT_EQ(maps[0].tiles[0].tied, std::vector<std::string>{"bsp"});
  EXPECT_EQ(maps[0].choices.size(), 1U);
  EXPECT_TRUE(maps[0].sentence.starts_with("Of 6 places asp wins in 4 and 2 are ties; "))
      << maps[0].sentence;
  EXPECT_EQ(count(svg_of(maps[0], "a subject"), ">tie<"), 1U + 2U);  // 1 in the legend, 2 tiles
}

// In grey, each winner is darker than the one before, and text on it is readable.
TEST(Maps, HaveTintsThatNeedNoHue) {
  const auto channel = [](const std::string& colour, std::size_t at) {
    const double part = std::stoi(colour.substr(at, 2), nullptr, 16) / 255.0;
    return part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
  };
  const auto light = [&](const std::string& colour) {
    return 0.2126 * channel(colour, 1) + 0.7152 * channel(colour, 3) + 0.0722 * channel(colour, 5);
  };
  const auto lightness = [&](const std::string& colour) {
    return 116 * std::cbrt(light(colour)) - 16;
  };
  for (const int first : {0, 1, 2, 3, 4, 5, 6}) {
    std::vector<Series> choices;
    for (int i = 0; i < 7; ++i)
      choices.push_back({.name = std::to_string(i), .colour = (first + i) % 7});
    const auto tints = tints_of(choices);
    for (std::size_t i = 0; i < tints.size(); ++i) {
      EXPECT_EQ(tints[i].hatched, i >= 5);
      if (i > 0 && i < 5) {
        EXPECT_GT(lightness(tints[i - 1].fill), lightness(tints[i].fill) + 12);
      }
      const double a = light(tints[i].fill) + 0.05, b = light(tints[i].ink) + 0.05;
      EXPECT_GE(std::max(a, b) / std::min(a, b), 4.5) << tints[i].fill << " " << tints[i].ink;
    }
    EXPECT_GT(lightness(tie_fill), lightness(tints[0].fill) + 4);
  }
}

TEST(Summary, HasARowPerCellAndItsWarnings) {
  PageContent content = content_of(made_sweep());
  content.missing = {"a.json is left out"};
  const std::string text = summary_of(content);
  EXPECT_TRUE(text.starts_with(summary_begin));
  EXPECT_EQ(count(text, "\n| "), 1U + 8U);
  EXPECT_NE(text.find("- a.json is left out\n- bsp, 1 worker; asp, 1 worker; bsp, 2 workers; 5 "
                      "more: a warning"),
            std::string::npos);
}

TEST(Summary, HasNoMarkupOfResults) {
  const std::string text = summary_of(content_of(
      {made_result({{"schedule", script}}, 100), made_result({{"schedule", "a|b`c[d](e)"}}, 90)}));
  EXPECT_EQ(count(text, "<script"), 0U);
  EXPECT_NE(text.find("a\\|b\\`c\\[d\\]\\(e\\)"), std::string::npos);
}

TEST(Figures, AreWellFormedXml) {
  auto results = made_sweep();
  results[0] = made_result({{"workers", "1"}, {"schedule", script + "&\"'"}}, 100);
  const auto figures = drawings_of(content_of(results));
  std::vector<std::string> names;
  for (const Drawing& figure : figures) {
    names.push_back(figure.name);
    EXPECT_TRUE(is_well_formed(figure.svg)) << figure.svg;
    EXPECT_EQ(count(figure.svg, "nan"), 0U) << figure.name;
    EXPECT_EQ(count(figure.svg, ">-0"), 0U) << figure.name;
  }
  EXPECT_EQ(
      std::vector(names.begin(), names.begin() + 5),
      (std::vector<std::string>{
          "throughput-resnet50-batch-32-two-hosts.svg",
          "efficiency-resnet50-batch-32-two-hosts.svg", "breakdown-resnet50-batch-32-two-hosts.svg",
          "links-resnet50-batch-32-two-hosts.svg", "timeline-1-resnet50-batch-32-two-hosts.svg"}));
  EXPECT_EQ(count(figures[4].svg, "<title>bsp, 8 workers: "), 1U);
  EXPECT_EQ(count(figures[4].svg, ">bsp, 8 workers: resnet50, batch 32, two-hosts<"), 1U);
}

// A page, a figure or a summary names its model and cluster, for those who see nothing else.
TEST(Subject, IsInEveryFigureAndSaysSeveralByTheirNumber) {
  std::vector<Result> results;
  for (const char* model : {"resnet50", "vgg16", "nets/mine.csv", "bert"})
    for (const char* platform : {"two-hosts", "dgx"})
      results.push_back(made_result({{"model", model}, {"platform", platform}}, 100));
  const Comparison compared = comparison_of(results);
  EXPECT_EQ(subject_of(compared), "4 models, batch 32, two-hosts and dgx");
  for (std::size_t i = 0; i < compared.cases.size(); ++i)
    EXPECT_NE(subject_of(compared, i), subject_of(compared)) << compared.cases[i];
  EXPECT_EQ(subject_of({&results[4]}, results), "mine, batch 32, two-hosts");
  EXPECT_NE(summary_of(content_of(results)).find("\nOf 4 models, batch 32, two-hosts and dgx.\n"),
            std::string::npos);
}

// With SOURCE_DATE_EPOCH a report can be made again to the byte.
TEST(PageData, SaysWhichProgramMadeItWhenAndByWhichCommand) {
  PageContent content = content_of(made_sweep());
  content.command = "syncline run 'a <b>.cfg' --jobs 2";
  setenv("SOURCE_DATE_EPOCH", "1700000000", 1);
  const auto data = nlohmann::json::parse(page_data(content, 1'000'000));
  EXPECT_EQ(data["made"]["command"], content.command);
  EXPECT_EQ(data["made"]["by"],
            content.results[0].tool + ", SimGrid " + content.results[0].simgrid + "; 2023-11-14");
  EXPECT_EQ(data["subject"], "resnet50, batch 32, two-hosts");
  for (const auto& one : data["cases"])
    EXPECT_EQ(one["subject"], data["subject"]);
}

TEST(Report, OfACellEndsWithItsWorkers) {
  Result result = made_result({}, 100);
  EXPECT_EQ(full_report(result).find("iterations  iteration"), std::string::npos);
  result.figures.workers = {{"worker 0", 30, 0.1, 0.09, 0, 0.005, 0.005},
                            {"worker 1 to 7", 10, 0.3, 0.09, 0, 0.15, 0.06}};
  const std::string report = full_report(result);
  EXPECT_TRUE(
      report.ends_with("               iterations  iteration  compute  exposed  waiting\n"
                       "worker 0               30     100 ms     90 %      5 %      5 %\n"
                       "worker 1 to 7          10     300 ms     30 %     50 %     20 %\n"))
      << report;
}

TEST(DrawnTimelines, TrustNoNumber) {
  Timeline timeline = made_result({}, 100).timeline;
  timeline.tracks[0].slices = {{9, 8, Verb::forward, 0, 0},
                               {1.5, 1.2, Verb::backward, 0, 0},
                               {-5, 1.25, Verb::step, 0, 0},
                               {1.1, 1.5, Verb::launch, 0, 0},
                               {1.5, 99, Verb::sum, -3, std::numeric_limits<std::int64_t>::max()}};
  const auto drawn = drawn_timeline(timeline, {.iteration_mean_s = 1});
  ASSERT_TRUE(drawn);
  ASSERT_EQ(drawn->tracks[0].slices.size(), 3U);
  EXPECT_EQ(drawn->tracks[0].slices[1].verb, Verb::launch);
  EXPECT_DOUBLE_EQ(drawn->tracks[0].slices[1].start_s, 0.25);
  EXPECT_DOUBLE_EQ(drawn->tracks[0].slices[2].end_s, 1);
  EXPECT_EQ(drawn->tracks[0].slices[2].iteration, -1);
  timeline.to_s = 0;
  EXPECT_FALSE(drawn_timeline(timeline, {.iteration_mean_s = 1}));
}

// Once, software time of a server on its communication stream was drawn as if bytes moved.
TEST(DrawnTimelines, AreBlueOnlyWhereBytesMove) {
  Timeline timeline{.from_s = 0, .to_s = 1};
  timeline.tracks = {{"worker 0",
                      "worker",
                      "compute",
                      {{0, 0.5, Verb::forward}, {0.5, 0.8, Verb::exposed}, {0.8, 1, Verb::wait}}},
                     {"server 0",
                      "server",
                      "communication",
                      {{0, 0.2, Verb::push},
                       {0.2, 0.3, Verb::handle},
                       {0.3, 0.4, Verb::sum},
                       {0.4, 0.5, Verb::wait}}}};
  const auto drawn = drawn_timeline(
      timeline, {.iteration_mean_s = 2, .exposed_communication_s = 0.2, .waiting_s = 0.8});
  ASSERT_TRUE(drawn);
  std::vector<Activity> activities;
  for (const DrawnSlice& slice : drawn->tracks[1].slices)
    activities.push_back(slice.activity);
  EXPECT_EQ(activities,
            (std::vector{Activity::communicate, Activity::serve, Activity::serve, Activity::wait}));
  EXPECT_EQ(drawn->tracks[0].slices[1].activity, Activity::exposed);
  EXPECT_EQ(
      drawn->sentence,
      "Workers stand still for 50 % of these 1 s (exposed 30 %, waiting 20 %). In the whole run "
      "40 % is waiting and 10 % exposed.");
}

}  // namespace
}  // namespace syncline

// `explain --measured LOG`: a log of all_reduce_perf that differs from the platform in one thing is
// explained by that thing; and the page of `explain --measured`.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

Json json_of(Words words) {
  words.emplace_back("--json");
  const Ended ended = run_program(words, SYNCLINE_SOURCE_DIR);
  EXPECT_EQ(ended.code, 0) << ended.err;
  return Json::parse(ended.out);
}

struct LogRow {
  double bytes, time_s;
};

std::string log_of(int nodes, int gpus, const std::vector<LogRow>& rows) {
  const int n = nodes * gpus;
  std::string text;
  for (int rank = 0; rank < n; ++rank)
    text += fmt::format("#  Rank {} Group 0 Pid 7 on n{} device {} [0x{:02d}] H100\n", rank,
                        rank / gpus, rank % gpus, rank % gpus);
  text += "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n";
  for (const auto& [bytes, time_s] : rows)
    text +=
        fmt::format("{:.0f} {:.0f} float sum -1 1 1 1 0 {:.3f} {:.3f} {:.3f} 0\n", bytes, bytes / 4,
                    1e6 * time_s, bytes / time_s / 1e9, 2.0 * (n - 1) / n * bytes / time_s / 1e9);
  return text;
}

// What this program simulates for these options, the fastest of the exchanges, as a log.
std::string planted_log(int nodes, int gpus, const Words& options, const std::string& exchanges) {
  Words words{"collective", "--sizes", "8,...,1G", "--exchange", exchanges};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<LogRow> rows;
  const Json table = json_of(words);
  for (const Json& row : table.at("rows")) {
    double fastest_s = 1e9;
    for (const Json& one : row.at("exchanges"))
      fastest_s = std::min(fastest_s, one.at("time_s").get<double>());
    rows.push_back({row.at("bytes"), fastest_s});
  }
  return log_of(nodes, gpus, rows);
}

Json explained_log(const std::string& log, const Words& options) {
  const TemporaryFolder folder;
  Words words{"explain", "--measured", folder.write("log.txt", log)};
  words.insert(words.end(), options.begin(), options.end());
  return json_of(words);
}

Json part_of(const Json& all, const std::string& shows) {
  for (const Json& part : all.at("parts"))
    if (part.at("shows") == shows)
      return part;
  ADD_FAILURE() << "no part shows " << shows << all.dump(1);
  return {};
}

// The place of a cause that suffices, from 1; those equally long share one. 0: it is none.
int place_in(const std::string& name, const Json& part) {
  int place = 0;
  for (const Json& cause : part.at("causes")) {
    if (cause.at("reach") != "enough")
      return 0;
    place += cause.contains("same_as") ? 0 : 1;
    if (cause.at("name") == name)
      return place;
  }
  return 0;
}

Json cause_named(const std::string& name, const Json& part) {
  for (const Json& cause : part.at("causes"))
    if (cause.at("name") == name)
      return cause;
  return {};
}

Words on(const std::string& words) {
  return {"--platform", words};
}

const std::string dgx_of_four = "dgx:nodes=2:gpus=2:cards=2x400Gbps";
const std::string four_by_four = "cloud:nodes=4:gpus=4:cards=4x100Gbps:roce";

// Cards of 100 Gbit/s, one on each of three hosts: a ring's bus bandwidth is at most 12.5 GB/s, and
// 5 GB/s at 0.4 of their rate.
TEST(ExplainLog, SaysByArithmeticWhatCardsCarried) {
  const std::string hosts = "cloud:nodes=3:gpus=1:cards=1x100Gbps";
  const std::string log = planted_log(3, 1, on("cloud:nodes=3:gpus=1:cards=1x40Gbps"), "ring");
  Words ring = on(hosts);
  ring.insert(ring.end(), {"--exchange", "ring"});
  const Json part = part_of(explained_log(log, ring), "bandwidth");
  EXPECT_NEAR(part.at("nominal").at("busbw_Bps"), 12.5e9, 0.02e9);
  EXPECT_LE(part.at("nominal").at("busbw_Bps"), 12.5e9);
  EXPECT_NEAR(part.at("measured").at("busbw_Bps"), 5e9, 0.01e9);
  const Json cards = cause_named("cards", part);
  EXPECT_NEAR(cards.at("amount"), 0.4, 2e-3);
  EXPECT_EQ(cards.at("gives"), part.at("measured"));
  EXPECT_EQ(place_in("cards", part), 1);
}

TEST(ExplainLog, HasWhatWasPlantedAmongTheFirstTwo) {
  struct Planted {
    std::string cause, shows;
    std::string measured, scenario;  // platforms
    Words options;                   // of what was measured
    std::string exchanges = "nccl";
    int nodes = 4, gpus = 4;
  };
  const std::vector<Planted> all{
      {"cards", "bandwidth", "cloud:nodes=4:gpus=4:cards=4x40Gbps:roce", four_by_four, {}},
      {"one-card", "bandwidth", four_by_four, four_by_four, {"--channels", "1"}},
      {"tree", "bandwidth", four_by_four, four_by_four, {}, "tree"},
      {"flat-ring", "latency", four_by_four, four_by_four, {}, "ring"},
      {"steps", "latency", four_by_four, four_by_four, {"--latency-factor", "5"}},
      {"steps", "latency", four_by_four, four_by_four, {"--step-overhead", "2e-5"}},
      {"typical", "bandwidth", four_by_four, four_by_four, {"--reality", "typical"}},
      {"inside",
       "bandwidth",
       "pcie:nodes=1:gpus=6:pcie=1.6GBps",
       "pcie:nodes=1:gpus=6:pcie=12GBps",
       {},
       "nccl",
       1,
       6},
  };
  for (const Planted& one : all) {
    Words measured = on(one.measured);
    measured.insert(measured.end(), one.options.begin(), one.options.end());
    const Json found =
        explained_log(planted_log(one.nodes, one.gpus, measured, one.exchanges), on(one.scenario));
    const int place = place_in(one.cause, part_of(found, one.shows));
    EXPECT_TRUE(place == 1 || place == 2) << one.cause << " " << place << found.dump(1);
  }
}

// What would make one part of the log as long is no cause where the other part excludes it: a
// millisecond for each step, or latencies that only a slow link's bytes could cause.
TEST(ExplainLog, ExcludesWhatOtherSizesWereTooFastFor) {
  const std::string log = planted_log(4, 4, on("cloud:nodes=4:gpus=4:cards=4x40Gbps:roce"), "nccl");
  const Json steps =
      cause_named("steps", part_of(explained_log(log, on(four_by_four)), "bandwidth"));
  EXPECT_EQ(steps.at("reach"), "too much");
  expect_mentions(steps.at("sentence"), {"; but then 16 B would take ", " instead of 84 us"});
}

TEST(ExplainLog, OfThePlatformItselfHasNothingToExplain) {
  const Json found = explained_log(planted_log(4, 4, on(four_by_four), "nccl"), on(four_by_four));
  EXPECT_EQ(found.at("workers"), 16);
  EXPECT_EQ(found.at("nodes"), 4);
  for (const Json& part : found.at("parts")) {
    EXPECT_EQ(part.at("causes").size(), 0U) << part.dump(1);
    expect_mentions(part.at("difference"), {"none to explain"});
    EXPECT_EQ(part.at("nominal"), part.at("scenario"));
    EXPECT_LE(part.at("typical").at("busbw_Bps"), part.at("nominal").at("busbw_Bps"));
  }
}

// Whatever a log of two nodes says, no link carries more than its card.
TEST(ExplainLog, OfTwoNodesNeverGivesALinkAboveItsCard) {
  for (const double GBps : {1.0, 9.0, 12.4, 12.6, 20.0, 40.0}) {
    const std::string log = log_of(2, 2, {{1 << 30, 1.5 * (1 << 30) / (GBps * 1e9)}, {8, 40e-6}});
    const Json found = explained_log(log, on("cloud:nodes=2:gpus=2:cards=1x100Gbps"));
    for (const Json& part : found.at("parts"))
      for (const Json& cause : part.at("causes"))
        if (cause.at("name") == "cards" || cause.at("name") == "inside") {
          EXPECT_LE(cause.value("amount", 0.0), 1.0) << GBps << cause.dump(1);
        }
    if (GBps > 20)
      expect_mentions(part_of(found, "bandwidth").at("difference"),
                      {"faster than the scenario allows", "other links"});
  }
}

// Messages need not be whole floats: 2 bytes less take the same way.
TEST(ExplainLog, TakesNcclsWayForAnyBytes) {
  const Json odd = explained_log(log_of(2, 2, {{1022, 40e-6}}), on(dgx_of_four));
  const Json whole = explained_log(log_of(2, 2, {{1024, 40e-6}}), on(dgx_of_four));
  EXPECT_EQ(part_of(whole, "latency").at("exchange"), "ring LL");
  EXPECT_EQ(part_of(odd, "latency").at("exchange"), "ring LL");
  EXPECT_EQ(part_of(odd, "latency").at("scenario").at("time_s"),
            part_of(whole, "latency").at("scenario").at("time_s"));
}

// Two RTX 2080 Ti without peer access (tests/repo/fixtures/README.md), and machines of
// tests/program/nccl-tests.csv: torch-a100-1, coreweave-h100-8, whose switches add, and
// azure-a100-2.
TEST(ExplainLog, OfPublicMachinesNamesTheirCauses) {
  const std::string fixtures = SYNCLINE_SOURCE_DIR "/tests/repo/fixtures/";
  const Json without_peers = explained_log(text_of(fixtures + "all-reduce-1x2-rtx2080ti.txt"),
                                           on("pcie:nodes=1:gpus=2:pcie=12GBps"));
  const Json inside = part_of(without_peers, "bandwidth").at("causes").at(0);
  EXPECT_EQ(inside.at("name"), "inside");
  // NCCL takes a ring for 16 bytes, so a ring is no cause.
  EXPECT_EQ(part_of(without_peers, "latency").at("exchange"), "ring LL");
  EXPECT_TRUE(cause_named("flat-ring", part_of(without_peers, "latency")).is_null());
  expect_mentions(inside.at("look_at"), {"SHM instead of P2P"});

  const Json one_node = part_of(explained_log(log_of(1, 8,
                                                     {{32768, 43.83e-6},
                                                      {65536, 46.8e-6},
                                                      {131072, 51.76e-6},
                                                      {4294967296, 32136e-6},
                                                      {8589934592, 64074e-6},
                                                      {17179869184, 0.128}}),
                                              on("dgx-a100:nodes=1")),
                                "bandwidth");
  expect_mentions(one_node.at("difference"), {"none to explain"});
  EXPECT_NEAR(one_node.at("measured").at("busbw_Bps"), 235e9, 1e9);

  const Json all = explained_log(log_of(8, 8,
                                        {{536870912, 2984.6e-6},
                                         {1073741824, 5808e-6},
                                         {2147483648, 11163e-6},
                                         {4294967296, 22181e-6},
                                         {8589934592, 43980e-6}}),
                                 on("dgx:nodes=8:cards=8x400Gbps:ib"));
  expect_mentions(part_of(all, "bandwidth").at("difference"),
                  {"faster than the scenario allows", "another algorithm"});
  EXPECT_EQ(all.at("parts").size(), 1U);
  expect_mentions(all.at("notes").at(0), {"no sizes so small"});

  const Json usual = part_of(
      explained_log(
          log_of(2, 8, {{2147483648, 21765e-6}, {4294967296, 43174e-6}, {8589934592, 85895e-6}}),
          on("dgx-a100:nodes=2:cards=8x200Gbps:ib")),
      "bandwidth");
  EXPECT_EQ(usual.at("causes").at(0).at("name"), "typical");
  EXPECT_EQ(place_in("cards", usual), 2);
}

TEST(ExplainLog, OfBadInputIsOneLineWithExitCodeTwo) {
  const TemporaryFolder folder;
  const std::string good = log_of(4, 4, {{8, 1e-4}, {1 << 30, 0.1}});
  const std::string above = good.substr(0, good.rfind("1073741824"));
  const std::vector<std::pair<std::string, Words>> all{
      {"", {"no line '# Rank N"}},
      {above.substr(0, above.rfind("8 2 float")), {"no row of sizes and times"}},
      {above + "1073741824 268435456 float sum -1 1 1 1 0 1000\n", {"fields: its columns are"}},
      {above + "1073741824 268435456 float sum -1 1 1 1 0 100000 nan nan 0\n", {"busbw 'nan'"}},
      {above + "1073741824 268435456 float none -1 1 1 1 0 100000 1 1 0\n", {"not an all-reduce"}},
      {"# alltoall_perf\n" + above, {"alltoall_perf: allowed is all_reduce_perf"}},
      {log_of(2, 4, {{8, 1e-4}, {1 << 30, 0.1}}), {"8 GPUs, but the cluster has 16 workers"}}};
  for (const auto& [text, mentions] : all) {
    const Ended ended = run_program(
        {"explain", "--platform", four_by_four, "--measured", folder.write("log.txt", text)});
    EXPECT_EQ(ended.code, 2) << ended.out;
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
    expect_mentions(ended.err, mentions);
  }
  folder.write("log.txt", good);
  for (const auto& [option, mentions] : std::vector<std::pair<Words, std::string>>{
           {{"--model", "vgg16"}, "--model has no meaning for an all-reduce alone"},
           {{"--workers", "8,16"}, "2 cells"},
           {{"--html", "log.txt"}, "--html log.txt"}}) {
    Words words{"explain", "--platform", four_by_four, "--measured", "log.txt"};
    words.insert(words.end(), option.begin(), option.end());
    const Ended ended = run_program(words, folder.path());
    EXPECT_EQ(ended.code, 2) << ended.out;
    EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
    expect_mentions(ended.err, {mentions});
  }
  EXPECT_EQ(text_of(folder.path("log.txt")), good);
}

TEST(ExplainLog, OfMoreRowsThanItsLimitIsRefusedByIt) {
  std::string text = log_of(4, 4, {{8, 1e-4}});
  const std::string row = text.substr(text.rfind("8 2 float"));
  for (int i = 0; i < 10'000; ++i)
    text += row;
  const TemporaryFolder folder;
  const Ended ended = run_program(
      {"explain", "--platform", four_by_four, "--measured", folder.write("log.txt", text)});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(lines_in(ended.err), 1U);
  expect_mentions(ended.err, {"more rows than 10000"});
}

// The page has what --json prints.
TEST(MeasuredPages, HaveTheAnswerOfJsonAndItsText) {
  const TemporaryFolder folder;
  const std::string log = folder.write(
      "a<b>&.txt", planted_log(4, 4, {"--platform", four_by_four, "--channels", "1"}, "nccl"));
  const Words rate{"explain",      "--platform", four_by_four, "--model", "resnet50",
                   "--throughput", "400",        "--measured", "1500"};
  for (const Words& words :
       {Words{"explain", "--platform", four_by_four, "--measured", log}, rate}) {
    const Json printed = json_of(words);
    const Json parts = printed.contains("parts") ? printed.at("parts") : Json::array({printed});
    Words with_page = words;
    with_page.insert(with_page.end(), {"--html", "page.html"});
    const Ended ended = run_program(with_page, folder.path());
    ASSERT_EQ(ended.code, 0) << ended.err;
    expect_mentions(ended.out, {"\npage: page.html\n"});
    const std::string page = text_of(folder.path("page.html"));
    const std::string begin = "<script type=\"application/json\" id=\"data\">";
    const std::size_t from = page.find(begin) + begin.size();
    const Json data = Json::parse(page.substr(from, page.find("</script>", from) - from));
    EXPECT_EQ(data.at("measured"), parts);
    expect_mentions(page, {"<pre>", "what by itself would take as long"});
    for (const char* outside : {"src=\"http", "a<b>"})
      EXPECT_EQ(page.find(outside), std::string::npos);
  }
}

TEST(MeasuredPages, NeedSomethingMeasured) {
  const Ended ended = run_program({"explain", "--platform", four_by_four, "--model", "resnet50",
                                   "--throughput", "400", "--html", "x.html"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(lines_in(ended.err), 1U);
  expect_mentions(ended.err, {"--html of explain needs --measured"});
}

// The prediction interval is that of a run.
TEST(ExplainMeasured, HasThePredictionIntervalOfARun) {
  for (const std::string cards : {"1x10Gbps", "4x100Gbps"}) {
    const Words options{"--platform",   "cloud:nodes=3:gpus=4:cards=" + cards,
                        "--model",      "vgg16",
                        "--throughput", "300",
                        "--batch",      "32"};
    Words run{"run"}, explain{"explain", "--measured", "100"};
    run.insert(run.end(), options.begin(), options.end());
    explain.insert(explain.end(), options.begin(), options.end());
    const Json figures = json_of(run).at("cells").at(0).at("result").at("figures");
    const Json found = json_of(explain);
    for (const char* end : {"prediction_low_samples_per_s", "prediction_high_samples_per_s"})
      EXPECT_NEAR(found.at(end), figures.at(end), 2e-3 * figures.at(end).get<double>());
  }
}

}  // namespace
}  // namespace syncline

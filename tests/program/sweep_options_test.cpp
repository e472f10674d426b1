// Options that do not fit together, and sweeps.
#include <algorithm>
#include <gtest/gtest.h>
#include <set>

#include "sim/options/expand.h"
#include "sim/options/options.h"
#include "sim/options/resolve.h"
#include "tests/program/program.h"
#include "tests/unit/errors.h"
#include "tests/unit/given.h"

namespace syncline {
namespace {

using Strings = std::vector<std::string>;

std::string error_message(const std::map<std::string, std::string>& values) {
  return error_of([&] { expand(given(values)); });
}

TEST(Combination, NeedsAPlatformAndAModel) {
  expect_mentions(error_of([] { resolve({{"model", {"resnet50", "--model"}}}); }), {"platform"});
  expect_mentions(error_of([] {
                    resolve({{"platform", {"two-hosts", "--platform"}}});
                  }),
                  {"model"});
}

TEST(Combination, NeedsFilesWhoseNamesAFolderCanHold) {
  for (const char* option : {"model", "platform", "device"})
    expect_mentions(error_message({{option, std::string(5000, 'x')}, {"compressor", "topk"}}),
                    {"--" + std::string(option), "allowed is a path, too"});
}

TEST(Combination, OfStalenessAndBspIsRefused) {
  expect_mentions(error_message({{"staleness", "3"}}), {"--staleness", "bsp"});
  EXPECT_EQ(expand(given({{"staleness", "3"}, {"schedule", "ssp"}})).cells.size(), 1U);
}

TEST(Combination, OfAspAndAnythingButAServerIsRefused) {
  expect_mentions(error_message({{"schedule", "asp"}, {"exchange", "ring"}}),
                  {"--exchange", "exchange = ring", "asp", "ps"});
}

TEST(Combination, OfAnExchangesParameterAndAnotherExchangeIsRefused) {
  expect_mentions(error_message({{"exchange", "ring"}, {"chunk-bytes", "5"}}),
                  {"--chunk-bytes", "ring"});
  expect_mentions(error_message({{"exchange", "tree"}, {"aggregate", "on"}}),
                  {"--aggregate", "tree"});
}

TEST(Combination, OfAnOptionAndAScheduleToWhichItMeansNothingIsRefused) {
  for (const auto& [option, value] : {std::pair("first-bucket-bytes", "50000"),
                                      {"fusion-cycle", "0.005"},
                                      {"bucket-closes", "after"}})
    expect_mentions(error_message({{"schedule", "fsdp"}, {option, value}}),
                    {"--" + std::string(option), "means nothing to schedule fsdp"});
}

TEST(Combination, ChecksParametersOfTheirOwn) {
  expect_mentions(error_message({{"schedule", "ssp"}, {"staleness", "-1"}}), {"staleness = -1"});
  expect_mentions(error_message({{"schedule", "ssp"}, {"staleness", "1.5"}}), {"staleness = 1.5"});
  expect_mentions(error_message({{"schedule", "inhad"}, {"threshold", "nan"}}),
                  {"threshold = nan"});
  expect_mentions(error_message({{"exchange", "tree"}, {"chunk-bytes", "0"}}), {"chunk-bytes = 0"});
  expect_mentions(error_message({{"exchange", "ps"}, {"aggregate", "no"}}),
                  {"aggregate = no", "off"});
  expect_mentions(error_message({{"exchange", "ps"}, {"in-flight", "-1"}}),
                  {"in-flight = -1", "0"});
  expect_mentions(error_message({{"exchange", "ps"}, {"in-flight", "1.5"}}),
                  {"in-flight = 1.5", "whole"});
  expect_mentions(error_message({{"exchange", "ring"}, {"in-flight", "1"}}),
                  {"--in-flight", "ring"});
}

TEST(Combination, OfAnAllReduceAndIndexListsIsRefused) {
  expect_mentions(error_message({{"compressor", "topk"}, {"exchange", "ring"}}),
                  {"ring adds messages on the way", "topk's cannot be added", "allgather"});
  expect_mentions(error_message({{"compressor", "qsgd"}, {"exchange", "gtopk"}}),
                  {"gtopk merges lists of index and value", "qsgd makes none"});
  expect_mentions(error_message({{"schedule", "topk-sgd"}, {"compressor", "qsgd"}}),
                  {"topk-sgd sends some of the values only", "gaussiank"});
}

TEST(Sweep, OfOneIsOneCell) {
  const Sweep sweep = expand(given({{"workers", "2"}}));
  EXPECT_EQ(sweep.cells.size(), 1U);
  EXPECT_TRUE(sweep.swept.empty());
  EXPECT_TRUE(sweep.left_out.empty());
}

std::vector<Strings> cells_of(const Sweep& sweep) {
  std::vector<Strings> cells;
  for (const Scenario& scenario : sweep.cells) {
    cells.emplace_back();
    for (const std::string& option : sweep.swept)
      cells.back().push_back(scenario.written.contains(option) ? scenario.written.at(option) : "");
  }
  return cells;
}

TEST(Sweep, IsTheProductOfItsLists) {
  const Sweep sweep = expand(given({{"batch", "8,16,32"}, {"workers", "1, 2"}, {"seed", "1,2"}}));
  EXPECT_EQ(sweep.swept, (Strings{"workers", "batch", "seed"}));  // the order of --help
  ASSERT_EQ(sweep.cells.size(), 12U);
  const std::vector<Strings> cells = cells_of(sweep);
  EXPECT_EQ(cells[0], (Strings{"1", "8", "1"}));
  EXPECT_EQ(cells[1], (Strings{"1", "8", "2"}));  // the last option changes fastest
  EXPECT_EQ(cells[2], (Strings{"1", "16", "1"}));
  EXPECT_EQ(cells[11], (Strings{"2", "32", "2"}));
  EXPECT_EQ(std::set<Strings>(cells.begin(), cells.end()).size(), 12U);
  EXPECT_EQ(sweep.cells[11].workers, 2);
  EXPECT_EQ(sweep.cells[11].batch, 32);
}

TEST(Sweep, HasEachCellOnce) {
  EXPECT_EQ(expand(given({{"workers", "1,2,1"}})).cells.size(), 2U);
  // bsp ignores staleness, so both values make a single bsp cell.
  const Sweep sweep = expand(given({{"schedule", "bsp,ssp"}, {"staleness", "1,2"}}));
  EXPECT_EQ(cells_of(sweep), (std::vector<Strings>{{"bsp", ""}, {"ssp", "1"}, {"ssp", "2"}}));
}

TEST(Sweep, SkipsAndReportsImpossibleCells) {
  const Sweep sweep = expand(given({{"schedule", "bsp,asp"}, {"exchange", "ring,ps"}}));
  EXPECT_EQ(cells_of(sweep), (std::vector<Strings>{{"bsp", "ring"}, {"bsp", "ps"}, {"asp", "ps"}}));
  ASSERT_EQ(sweep.left_out.size(), 1U);
  expect_mentions(sweep.left_out[0], {"ring", "asp"});
}

TEST(Sweep, UsesASettingOnlyForSchedulesThatHaveIt) {
  const Sweep sweep = expand(given({{"schedule", "bsp,ssp,inhad"}, {"staleness", "4"}}));
  ASSERT_EQ(sweep.cells.size(), 3U);
  EXPECT_FALSE(sweep.cells[0].written.contains("staleness"));
  EXPECT_EQ(sweep.cells[1].written.at("staleness"), "4");
  EXPECT_EQ(sweep.cells[2].written.at("staleness"), "4");
}

// With jitter, or with staleness, workers do not all wait as straggling takes it.
TEST(Sweep, UsesAnOptionOnlyInCellsWhereItHasAMeaning) {
  for (const auto& [swept, values] : {std::pair("jitter", "0,0.1"), {"staleness", "0,3"}}) {
    const auto cells = expand(given({{"schedule", values[2] == '3' ? "ssp" : "bsp"},
                                     {"straggling", "0.05"},
                                     {swept, values}}))
                           .cells;
    ASSERT_EQ(cells.size(), 2U) << swept;
    EXPECT_EQ(cells[0].straggling, 0.05) << swept;
    EXPECT_EQ(cells[1].straggling, 0) << swept;
  }
  // Servers send no collectives, so that there is one cell of asp.
  const Sweep servers = expand(given({{"schedule", "bsp,asp"}, {"overlap-slowdown", "0,0.3"}}));
  ASSERT_EQ(servers.cells.size(), 3U);
  EXPECT_EQ(servers.cells.back().written.at("overlap-slowdown"), "0");
  expect_mentions(error_message({{"straggling", "0.05"}, {"jitter", "0.1,0.2"}}),
                  {"--straggling", "allowed is one of both"});
}

// Three workers cannot share 64 samples, and an average cannot arrive after the next one has begun.
TEST(Sweep, LeavesOutCellsWhoseOptionsContradictEachOther) {
  const Sweep shared = expand(given({{"global-batch", "64,100"}, {"workers", "2,3,4"}}));
  ASSERT_EQ(shared.cells.size(), 4U);
  ASSERT_EQ(shared.left_out.size(), 2U);
  expect_mentions(shared.left_out[0], {"global-batch = 64: 3 workers", "multiples"});
  const Sweep by_exchange =
      expand(given({{"global-batch", "64"}, {"workers", "2,3"}, {"exchange", "ring,tree"}}));
  EXPECT_EQ(by_exchange.cells.size(), 2U);
  const Sweep delayed =
      expand(given({{"schedule", "local-sgd"}, {"local-steps", "4,8"}, {"average-delay", "5"}}));
  ASSERT_EQ(delayed.cells.size(), 1U);
  EXPECT_EQ(delayed.cells[0].written.at("local-steps"), "8");
  expect_mentions(error_message({{"global-batch", "63,64"}, {"workers", "2,4"}}),
                  {"--global-batch", "63"});
}

TEST(Sweep, RefusesAValueThatNoCellUses) {
  expect_mentions(error_message({{"schedule", "bsp,asp"}, {"staleness", "3"}}), {"--staleness"});
  expect_mentions(error_message({{"schedule", "asp,ssp"}, {"exchange", "ring"}}), {"--exchange"});
  expect_mentions(error_message({{"schedule", "asp,ssp"}, {"exchange", "ring,ps"}}), {"ring"});
}

TEST(Sweep, RefusesABadValueAmongGoodOnes) {
  expect_mentions(error_message({{"workers", "1,0,2"}}), {"--workers", "workers = 0"});
  expect_mentions(error_message({{"workers", "1,,2"}}), {"--workers", "allowed is a value"});
  expect_mentions(error_message({{"schedule", "bsp,bsq"}}), {"'bsq'"});
}

TEST(ScenarioOptions, HaveDifferentNamesAndASentence) {
  std::set<std::string> names;
  for (const Option& option : scenario_options()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name << " is declared twice";
    EXPECT_FALSE(option.sentence.empty()) << option.name;
  }
  for (const char* name :
       {"platform",       "workers",        "workers-per-node", "servers",   "model",
        "batch",          "precision",      "throughput",       "device",    "efficiency",
        "schedule",       "exchange",       "staleness",        "threshold", "overlap",
        "bucket-bytes",   "compressor",     "density",          "network",   "bandwidth-factor",
        "latency-factor", "step-overhead",  "fidelity",         "jitter",    "iterations",
        "interval",       "max-iterations", "warmup",           "seed"})
    EXPECT_TRUE(names.contains(name)) << name;
}

// The lists below are short; their product is not.
TEST(Sweep, OfMoreCellsThanAllowedIsRefusedBeforeAnyIsMade) {
  std::map<std::string, std::string> lists{{"workers", "1,2"}, {"batch", ""}, {"seed", ""}};
  for (int i = 1; i <= 100; ++i)
    for (const char* name : {"batch", "seed"})
      lists[name] += (i > 1 ? "," : "") + std::to_string(i);
  expect_mentions(error_message(lists),
                  {"20000 combinations", "batch (100), seed (100) or workers (2)", "10000"});
  for (const Option& option : scenario_options())
    lists[option.name] = lists["batch"];
  expect_mentions(error_message(lists), {"more than 1e15 combinations"});
}

TEST(Lists, HaveACommaInAValueBehindABackslash) {
  using Values = std::vector<std::string>;
  const auto values = [](const std::string& text) { return values_of({text, ""}); };
  EXPECT_EQ(values("a, b ,,c"), (Values{"a", "b", "", "c"}));
  EXPECT_EQ(values(R"(a\,b.xml)"), Values{"a,b.xml"});
  EXPECT_EQ(values(R"(a\,b.xml, c\d)"), (Values{"a,b.xml", R"(c\d)"}));
  EXPECT_EQ(values(R"(a\\,b)"), Values{R"(a\,b)"});
  EXPECT_EQ(values(R"(a\)"), Values{R"(a\)"});
  EXPECT_EQ(values(""), Values{""});
}

TEST(Lists, TakeAPathWithACommaAsOneValue) {
  const TemporaryFolder folder;
  const std::string xml = text_of(SYNCLINE_SOURCE_DIR "/platforms/two-hosts.xml");
  folder.write("a,\"b.xml", xml);
  folder.write("c.cfg",
               "platform = a\\,\"b.xml\nmodel = resnet50\nthroughput = 10\niterations = 3\n");
  const Ended of_file = run_program({"run", "c.cfg"}, folder.path());
  EXPECT_EQ(of_file.code, 0) << of_file.err;
  const Ended sweep = run_program(
      {"run", "c.cfg", "--platform", "a\\,\"b.xml,two-hosts", "--out", "o"}, folder.path());
  EXPECT_EQ(sweep.code, 0) << sweep.err;
  EXPECT_EQ(lines_in(sweep.out), 5U) << sweep.out;  // title, 2 cells, how simulated, winner
  const auto files = listing_of(folder.path("o"));
  EXPECT_EQ(files.size(), 3U);
  expect_mentions(files.at("results.csv"), {"a,\"\"b.xml\","});
  const Ended raw = run_program({"run", "c.cfg", "--platform", "x,y.xml"}, folder.path());
  EXPECT_EQ(raw.code, 2);
  expect_mentions(raw.err, {"no platform 'x'", "\\, is a comma in a path"});
}

TEST(Lists, HaveNoEmptyValues) {
  for (const char* option : {"device", "exchange", "schedule", "platform", "model", "batch"}) {
    const Ended ended = run_program({"run", std::string("--") + option, ""});
    EXPECT_EQ(ended.code, 2) << option;
    EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
    expect_mentions(ended.err, {std::string("--") + option, "is empty"});
  }
}

TEST(Combination, OfAnOptionAndAPlatformInWordsToWhichItMeansNothingIsRefused) {
  expect_mentions(error_message({{"platform", "pcie:nodes=2"}, {"host-bandwidth", "2e9"}}),
                  {"--host-bandwidth", "means nothing to a platform in words", "48 GB/s"});
  const Sweep sweep = expand(given({{"platform", "pcie:nodes=2,two-hosts"},
                                    {"host-bandwidth", "2e9,4e9"},
                                    {"schedule", "asp"}}));
  EXPECT_EQ(sweep.cells.size(), 3U);  // of the words once
}

TEST(Combination, OfServerJitterAndNoServerOverheadIsRefused) {
  expect_mentions(error_message({{"schedule", "asp"}, {"server-jitter", "1"}}),
                  {"--server-jitter", "without server-overhead"});
}

// They may be for another schedule of the same file, so they are no error.
TEST(Options, ThatAScheduleDoesNotUseAreWarnedOf) {
  const auto warning = [](const std::map<std::string, std::string>& options) {
    const std::vector<std::string> all = resolve(given(options)).warnings;
    return all.empty() ? "" : all.front();
  };
  EXPECT_EQ(warning({{"schedule", "inhad"}, {"overlap", "off"}, {"bucket-bytes", "0"}}),
            "overlap, bucket-bytes have no effect with schedule inhad");
  EXPECT_EQ(warning({{"schedule", "asp"}, {"optimizer-overhead", "1e-5"}}),
            "optimizer-overhead has no effect with schedule asp");
  EXPECT_EQ(warning({{"exchange", "tree"}, {"server-overhead", "1e-4"}}),
            "server-overhead has no effect with schedule bsp over exchange tree");
  EXPECT_EQ(warning({{"throughput", "9"}, {"efficiency", "0.4"}}),
            "efficiency has no effect beside throughput, which says how fast a worker computes");
  EXPECT_EQ(warning({{"schedule", "gossip"}, {"bucket-closes", "after"}}),
            "bucket-closes has no effect with schedule gossip");
  EXPECT_EQ(warning({{"schedule", "fsdp"}, {"shard", "node"}, {"channels", "4"}}),
            "channels has no effect where groups of workers hold shards: each has one ring");
  EXPECT_EQ(warning({{"schedule", "asp"},
                     {"compressor", "efsign"},
                     {"device", "h100-modelled"},
                     {"optimizer", "adam"},
                     {"memory-bandwidth", "1e12"}}),
            "optimizer has no effect with schedule asp and a compressor: servers add messages, "
            "without a step");
  for (const auto& used :
       {std::map<std::string, std::string>{{"schedule", "asp"}, {"overlap", "off"}},
        {{"exchange", "ps"}, {"server-overhead", "1e-4"}},
        {{"schedule", "easgd"}, {"optimizer-overhead", "1e-5"}},
        {{"schedule", "fsdp"}, {"channels", "4"}},
        {{"framework", "pytorch-ddp"}, {"schedule", "gossip"}}})
    EXPECT_EQ(warning(used), "");
}

}  // namespace
}  // namespace syncline

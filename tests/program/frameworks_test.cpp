// framework and the rules of buckets: mistakes a user may make, and what a result says was used.
#include <filesystem>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/program/installation.h"
#include "tests/unit/errors.h"
#include "tests/unit/folder.h"

namespace syncline {
namespace {

Ended run_framework(const std::vector<std::string>& more, const std::string& folder) {
  std::vector<std::string> arguments{"run",      "--platform",   "two-hosts", "--model",
                                     "resnet50", "--out",        "out",       "--throughput",
                                     "360",      "--iterations", "2"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments, folder);
}

TEST(BadFrameworks, AreAnsweredInOneLineWithExitCodeTwo) {
  const std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> all{
      {{"--framework", "pytroch-ddp"}, {"--framework", "no such framework", "none", "pytorch-ddp"}},
      {{"--framework", "pytorch-ddp-1.2"}, {"pytorch-ddp-1.2", "before 1.6", "1.6 or later"}},
      {{"--framework", "pytorch-ddp-new"}, {"pytorch-ddp-new", "no such framework"}},
      {{"--bucket-closes", "at"}, {"bucket-closes = at", "before", "after"}},
      {{"--first-bucket-bytes", "-1"}, {"first-bucket-bytes = -1", "allowed are"}},
      {{"--first-bucket-bytes", "nan"}, {"first-bucket-bytes", "allowed are"}},
      {{"--bucket-bytes", "all", "--bucket-closes", "after"},
       {"--bucket-closes", "bucket-bytes = all", "a number for bucket-bytes"}},
      {{"--framework", "horovod-0.1"}, {"horovod-0.1", "before 0.15", "0.15 or later"}},
      {{"--fusion-cycle", "-1"}, {"fusion-cycle = -1", "0 to 10"}},
      {{"--fusion-cycle", "1ms"}, {"fusion-cycle = 1ms", "0 to 10"}},
      {{"--fusion-cycle", "1e-3", "--bucket-bytes", "all"},
       {"--fusion-cycle", "bucket-bytes = all", "a number for bucket-bytes"}},
      {{"--fusion-cycle", "1e-3", "--schedule", "asp"},
       {"--fusion-cycle", "schedule asp", "average in every iteration"}},
      {{"--fusion-cycle", "1e-3", "--schedule", "local-sgd"},
       {"--fusion-cycle", "schedule local-sgd", "average in every iteration"}},
      {{"--fusion-cycle", "1e-3", "--bucket-closes", "after"},
       {"--bucket-closes", "fusion-cycle", "fusion-cycle = 0"}},
      {{"--bucket-bytes", "merged", "--first-bucket-bytes", "5"},
       {"--first-bucket-bytes", "bucket-bytes = merged", "a number for bucket-bytes"}},
  };
  for (const auto& [arguments, mentions] : all) {
    const TemporaryFolder folder;
    const Ended ended = run_framework(arguments, folder.path());
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
    expect_mentions(ended.err, mentions);
    EXPECT_FALSE(std::filesystem::exists(folder.path("out")));
  }
}

TEST(Framework, IsNamedInTheResultWithEachDefaultThatWasTaken) {
  const TemporaryFolder folder;
  const Ended ended =
      run_framework({"--framework", "pytorch-ddp", "--bucket-bytes", "1e6"}, folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  expect_mentions(ended.out, {"pytorch-ddp from 1.6", "bucket-closes = after (", "reducer.cpp"});
  const auto result = nlohmann::json::parse(text_of(folder.path("out/result.json")));
  EXPECT_EQ(result["scenario"]["bucket-closes"], "after");
  EXPECT_EQ(result["scenario"]["bucket-bytes"], 1e6);
  const auto taken = result["provenance"]["framework"].get<std::string>();
  expect_mentions(taken, {"first-bucket-bytes = 1048576 ("});
  EXPECT_EQ(taken.find(" bucket-bytes = "), std::string::npos) << taken;
}

// A framework's user may expect autocast's gradients, which are twice as large.
TEST(Framework, SaysThatGradientsTravelInTwoBytesUnlessTheUserDecides) {
  const auto said = [](const std::string& framework, const std::string& precision,
                       const std::vector<std::string>& more) {
    std::vector<std::string> arguments{
        "explain",      "--platform", "two-hosts",   "--model", "resnet50",    "--batch", "32",
        "--throughput", "360",        "--framework", framework, "--precision", precision};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended ended = run_program(arguments);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out;
  };
  expect_mentions(said("pytorch-ddp", "bf16", {}),
                  {"warning: gradients travel in bf16, as precision keeps them; torch.autocast"});
  for (const std::string& quiet :
       {said("pytorch-ddp", "fp32", {}), said("none", "bf16", {}), said("pytorch-fsdp", "bf16", {}),
        said("pytorch-ddp", "bf16", {"--wire-precision", "bf16"}),
        said("pytorch-ddp", "bf16", {"--wire-precision", "fp32"})})
    EXPECT_EQ(quiet.find("gradients travel"), std::string::npos) << quiet;
}

// In a sweep with buckets of all kinds, the rule applies to buckets with a size in bytes.
TEST(Framework, RulesOfBucketsAreLeftOutWhereThereIsOneBucket) {
  const TemporaryFolder folder;
  const Ended ended =
      run_framework({"--bucket-bytes", "1e6,all", "--bucket-closes", "after"}, folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
}

// 1.07 GB over two nodes of eight cards of 12.5 GB/s: a tree sends each byte once through a card,
// 10.7 ms; a ring of 16 sends 2 (16 - 1)/16 of them, 20.1 ms. On four nodes the ring is faster.
TEST(Framework, OfNcclNamesTheWayInExplain) {
  const std::vector<std::string> words{"explain", "--platform",  "dgx:nodes=2",
                                       "--model", "resnet50",    "--throughput",
                                       "1000",    "--framework", "pytorch-ddp"};
  const Ended text = run_program(words);
  expect_mentions(text.out, {"\n  exchange NVLSTree Simple for ", " channels, as many as fill"});
  std::vector<std::string> json = words;
  json.emplace_back("--json");
  expect_mentions(
      nlohmann::json::parse(run_program(json).out)["cells"][0]["provenance"]["exchange"],
      {"NVLSTree Simple for "});
}

TEST(Framework, OfNcclTakesATreeOnTwoNodesAndARingOnFour) {
  const TemporaryFolder folder;
  folder.write("one.csv", "layer,parameters,forward_flop\nall,268435456,1\n");
  const auto seconds = [&](const std::string& nodes, std::vector<std::string> more) {
    more.insert(more.begin(), {"run", "--json", "--platform",
                               "dgx-a100:nodes=" + nodes + ":cards=8x100Gbps", "--model", "one.csv",
                               "--batch", "1", "--throughput", "100000", "--iterations", "1"});
    const Ended ended = run_program(more, folder.path());
    EXPECT_EQ(ended.code, 0) << ended.err;
    return nlohmann::json::parse(ended.out)
        .at("cells")
        .at(0)
        .at("result")
        .at("figures")
        .at("iteration_mean_s")
        .get<double>();
  };
  for (const std::string framework : {"pytorch-ddp", "horovod"}) {
    const double cycle_s = framework == "horovod" ? 1e-3 : 0;  // the only tensor waits for its end
    const double two = seconds("2", {"--framework", framework});
    EXPECT_GT(two, 0.0107);
    EXPECT_LT(two, 0.0135 + cycle_s);
    EXPECT_NEAR(two, seconds("2", {"--exchange", "nccl"}) + cycle_s, 2e-5);
    EXPECT_NEAR(seconds("2", {"--framework", framework, "--exchange", "ring"}), 0.0202 + cycle_s,
                2e-4);
    const double four = seconds("4", {"--framework", framework});
    EXPECT_NEAR(four, seconds("4", {"--exchange", "nccl"}) + cycle_s, 2e-5);
    EXPECT_NEAR(four / (seconds("4", {"--exchange", "ring"}) + cycle_s), 1, 0.02);
  }
}

// Another table next to a copy of the program: defaults also reach a schedule's own settings.
TEST(Framework, GivesAScheduleAndItsSettings) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const Installation program;
  program.write("platforms/frameworks.csv",
                "framework,from,option,value,source\n"
                "pytorch-fsdp,2.1,schedule,fsdp,one\n"
                "pytorch-fsdp,2.1,zero,2,two\n"
                "pytorch-fsdp,2.1,prefetch,0,three\n");
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{
        "run",          "--model", "resnet50",    "--platform",   "two-hosts", "--throughput", "9",
        "--iterations", "1",       "--framework", "pytorch-fsdp", "--out",     "out"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended ended = program.run(arguments, folder.path());
    EXPECT_EQ(ended.code, 0) << ended.err;
    return nlohmann::json::parse(text_of(folder.path("out/result.json")));
  };
  const auto result = run({});
  EXPECT_EQ(result["scenario"]["schedule"], "fsdp");
  EXPECT_EQ(result["scenario"]["zero"], 2);
  EXPECT_EQ(result["scenario"]["prefetch"], 0);
  EXPECT_EQ(result["provenance"]["framework"],
            "pytorch-fsdp from 2.1: schedule = fsdp (one); zero = 2 (two); prefetch = 0 (three)");
  const auto when = [&] { return fs::last_write_time(folder.path("out/result.json")); };
  auto written = when();
  run({"--resume"});
  EXPECT_EQ(when(), written) << "nothing has changed";
  for (const char* table : {"frameworks", "devices"}) {
    const std::string path = std::string("platforms/") + table + ".csv";
    program.write(path, "# new\n" + text_of(program.data(path)));
    run({"--resume"});
    EXPECT_NE(when(), written) << table;
    written = when();
  }
  const auto given = run({"--zero", "1"});
  EXPECT_EQ(given["scenario"]["zero"], 1);
  EXPECT_EQ(given["provenance"]["framework"],
            "pytorch-fsdp from 2.1: schedule = fsdp (one); prefetch = 0 (three)");
}

}  // namespace
}  // namespace syncline

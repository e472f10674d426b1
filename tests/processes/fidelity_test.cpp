// `fidelity = auto`: steps if there are few messages, flows otherwise.
#include "sim/engine/fidelity.h"

#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

Json explained(const std::string& workers, const std::vector<std::string>& more = {}) {
  std::vector<std::string> all{"explain",   "--platform",   "fat-tree-1024", "--model",
                               "resnet50",  "--throughput", "250",           "--json",
                               "--workers", workers};
  all.insert(all.end(), more.begin(), more.end());
  const Ended ended = run_program(all);
  EXPECT_EQ(ended.code, 0) << ended.err;
  return Json::parse(ended.out)["cells"][0];
}

// A ring of n has 2 (n - 1) n messages for each of five buckets, and a run has 11 iterations.
TEST(Fidelity, AutoIsStepsUpTo125000Messages) {
  for (const int n : {2, 16, 34, 35, 64, 512}) {
    const Json cell = explained(std::to_string(n));
    const double messages = 2.0 * (n - 1) * n * 5 * 11;
    EXPECT_EQ(cell["simulated_as"], messages <= most_messages_in_steps ? "step" : "flow") << n;
  }
}

TEST(Fidelity, IsWhatAUserAsksFor) {
  for (const std::string fidelity : {"step", "flow"}) {
    EXPECT_EQ(explained("4", {"--fidelity", fidelity})["simulated_as"], fidelity);
    EXPECT_EQ(explained("64", {"--fidelity", fidelity})["simulated_as"], fidelity);
  }
}

// A bucket of 25 MB has seven partitions. In flows, 1,024 messages allow four partitions with 16
// workers and as many servers, and sixteen with 8 and 8, so the latter push each partition.
TEST(Fidelity, WarnsWherePartitionsArePushedTogetherOverFullLinks) {
  const auto warns = [](const std::string& workers, const std::string& schedule,
                        const std::string& fidelity, const std::string& throughput) {
    const Ended ended =
        run_program({"run", "--platform", "gbe-32x1", "--model", "resnet50", "--throughput",
                     throughput, "--workers", workers, "--schedule", schedule, "--servers", "0",
                     "--fidelity", fidelity, "--iterations", "4"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return (ended.out + ended.err).find("several partitions of a bucket") != std::string::npos;
  };
  EXPECT_TRUE(warns("16", "asp", "flow", "250"));
  EXPECT_TRUE(warns("16", "ssp", "flow", "250"));
  EXPECT_FALSE(warns("16", "asp", "step", "250"));
  EXPECT_FALSE(warns("8", "asp", "flow", "250"));
  EXPECT_FALSE(warns("16", "bsp", "flow", "250"));
  EXPECT_FALSE(warns("16", "asp", "flow", "5"));  // cards are a tenth full
}

TEST(Fidelity, OfACellIsInItsResultItsTablesAndTheCsv) {
  const TemporaryFolder folder;
  const Ended ended = run_program({"run", "--platform", "fat-tree-1024", "--model", "resnet50",
                                   "--throughput", "250", "--workers", "16,64", "--out",
                                   folder.path("out"), "--html", folder.path("page.html")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  ASSERT_EQ(run_program({"report", "out", "--md", "summary.md"}, folder.path()).code, 0);
  const std::string how = "imulated as flow, 1 run (1 cell); step, 1 run (1 cell)";
  expect_mentions(ended.out, {how});
  expect_mentions(text_of(folder.path("page.html")), {how});
  expect_mentions(text_of(folder.path("summary.md")),
                  {"Simulated as flow, 1 run \\(1 cell\\); step, 1 run \\(1 cell\\)."});
  for (const auto& [workers, word] :
       std::vector<std::pair<std::string, std::string>>{{"16", "step"}, {"64", "flow"}}) {
    const Json result = Json::parse(text_of(folder.path("out/workers-" + workers + ".json")));
    EXPECT_EQ(result["scenario"]["fidelity"], "auto");
    EXPECT_EQ(result["provenance"]["fidelity"], word);
  }
  const std::string csv = text_of(folder.path("out/results.csv"));
  EXPECT_NE(csv.find(",simulated_as,"), std::string::npos);
  EXPECT_NE(csv.find(",step,"), std::string::npos);
  EXPECT_NE(csv.find(",flow,"), std::string::npos);
}

// Every share of a sweep makes the same choice.
TEST(Fidelity, IsTheSameInEveryShareOfASweep) {
  const TemporaryFolder folder;
  const std::vector<std::string> sweep{"run",      "--platform", "fat-tree-1024", "--model",
                                       "resnet50", "--workers",  "16,64",         "--throughput",
                                       "250",      "--out"};
  const auto run = [&](const std::string& out, std::vector<std::string> more) {
    std::vector<std::string> all = sweep;
    all.push_back(folder.path(out));
    all.insert(all.end(), more.begin(), more.end());
    ASSERT_EQ(run_program(all).code, 0);
  };
  run("whole", {"--jobs", "1"});
  run("shared", {"--resume", "--share", "2/2"});
  run("shared", {"--resume", "--share", "1/2"});
  for (const char* cell : {"/workers-16.json", "/workers-64.json"})
    EXPECT_EQ(text_of(folder.path("whole") + cell), text_of(folder.path("shared") + cell));
}

// InfiniBand's factors depend on message sizes, so only steps are meaningful.
TEST(Fidelity, AutoIsStepsWhereFactorsDependOnSizes) {
  const Ended refused =
      run_program({"explain", "--platform", "gbe-32x1", "--model", "resnet50", "--throughput",
                   "250", "--network", "ib", "--fidelity", "flow"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("allowed are fidelity = auto, step"), std::string::npos);
}

TEST(Fidelity, OfACheckIsWhatItWasBlessedWith) {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder.path(name)) << text;
  };
  write("cell.cfg", "platform = gbe-32x1\nmodel = resnet50\nthroughput = 300\nworkers = 4\n");
  ASSERT_EQ(run_program({"check", folder.path(""), "--bless", "--because", "new"}).code, 0);
  const std::string blessed = text_of(folder.path("expected.csv"));
  EXPECT_NE(blessed.find("cell,fidelity,step,"), std::string::npos) << blessed;
  EXPECT_EQ(run_program({"check", folder.path("")}).code, 0);
  // An older file has no such row: it was made with flows, and says so if the result now differs.
  std::string before;
  std::istringstream lines(blessed);
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("cell,fidelity,"))
      before += line + "\n";
  write("expected.csv", before);
  EXPECT_EQ(run_program({"check", folder.path("")}).code, 0);  // a ring of four: equal in both
}

}  // namespace
}  // namespace syncline

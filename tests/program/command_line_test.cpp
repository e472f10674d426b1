// Runs, sweeps and validations, as a user starts them.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "sim/catalogue/csv.h"
#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Arguments = std::vector<std::string>;

Arguments run_with(const Arguments& more) {
  Arguments arguments{"run", "--model", "resnet50", "--throughput", "100"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(Result, HasASchemaAScenarioProvenanceAndFigures) {
  const TemporaryFolder folder;
  const Ended ended =
      run_program(run_with({"--platform", "two-hosts", "--out", "results"}), folder.path());
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.err, "");
  expect_mentions(ended.out, {"throughput", "samples/s", "scaling efficiency", "bottleneck",
                              "network", "exact", "option throughput"});
  const Json result = Json::parse(text_of(folder.path("results/result.json")));
  EXPECT_EQ(result.at("schema"), 3);
  for (const char* key : {"tool", "simgrid"})
    EXPECT_FALSE(result.at(key).get<std::string>().empty()) << key;
  for (const char* key : {"compute", "network"})
    EXPECT_FALSE(result.at("provenance").at(key).get<std::string>().empty()) << key;
  for (const char* key :
       {"platform", "model", "schedule", "exchange", "network", "fidelity", "iterations"})
    EXPECT_TRUE(result.at("scenario").at(key).is_string()) << key;
  for (const char* key : {"batch", "seed", "warmup", "throughput"})
    EXPECT_TRUE(result.at("scenario").at(key).is_number()) << key;
  const Json& figures = result.at("figures");
  for (const char* key : {"worker_count",
                          "throughput_samples_per_s",
                          "scaling_efficiency",
                          "iteration_mean_s",
                          "iteration_p50_s",
                          "iteration_p99_s",
                          "compute_s",
                          "compress_s",
                          "exposed_communication_s",
                          "waiting_s",
                          "bytes_sent",
                          "bytes_received",
                          "staleness_mean",
                          "staleness_max",
                          "staleness_updates_mean",
                          "staleness_iterations_mean",
                          "updates",
                          "bound_compute_s",
                          "bound_link_s",
                          "simulated_s"})
    EXPECT_TRUE(figures.at(key).is_number()) << key;
  EXPECT_FALSE(figures.at("busiest_links").empty());
  EXPECT_FALSE(figures.at("bottleneck").get<std::string>().empty());
  EXPECT_TRUE(figures.at("staleness_histogram").is_object());
  EXPECT_TRUE(figures.at("warnings").empty());
}

TEST(Result, WarnsWhereANodesServerSharesAWorkersLink) {
  const std::string fat_tree = std::string(SYNCLINE_SOURCE_DIR) + "/platforms/fat-tree-1024.xml";
  const auto run = [&](const std::string& per_node, const Arguments& more) {
    Arguments arguments{"--platform",         fat_tree, "--workers",  "4",
                        "--workers-per-node", per_node, "--exchange", "ps"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(run_with(arguments)).out;
  };
  expect_mentions(run("2", {}), {"warning", "2 nodes", "node 0", "with worker 0", "role = host"});
  EXPECT_EQ(run("2", {"--servers", "2"}).find("role = host"), std::string::npos);
  EXPECT_EQ(run("1", {}).find("role = host"), std::string::npos);
  EXPECT_EQ(run("4", {}).find("role = host"), std::string::npos) << "one node has no server";
}

// A path that help and the README name is found from any folder, also after installation.
TEST(Explain, FindsTheQuickstartFromAnywhere) {
  const TemporaryFolder folder;
  const Ended ended = run_program({"explain", "experiments/quickstart.cfg", "--workers", "4",
                                   "--schedule", "bsp", "--exchange", "ring"},
                                  folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  folder.write("experiments/quickstart.cfg", "modell = x\n");  // the user's own file comes first
  expect_mentions(run_program({"explain", "experiments/quickstart.cfg"}, folder.path()).err,
                  {"experiments/quickstart.cfg:1", "modell"});
}

TEST(Result, HasALinePerCellInTheCsv) {
  const TemporaryFolder folder;
  const Ended ended = run_program(run_with({"--platform", "two-hosts", "--workers", "1,2",
                                            "--schedule", "bsp,ssp", "--out", "results"}),
                                  folder.path());
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(lines_in(ended.out), 8U) << ended.out;  // title, 4 cells, how simulated, winner
  const Csv csv = read_csv(folder.path("results/results.csv"));
  ASSERT_EQ(csv.rows.size(), 4U);
  for (const char* column : {"workers", "schedule", "staleness", "model", "platform", "throughput",
                             "scaling_efficiency", "iteration_mean_s", "staleness_mean"})
    EXPECT_EQ(csv.columns.at(csv.column(column)), column);
  for (const Csv::Row& row : csv.rows) {
    const std::string cell = "workers-" + row.fields[csv.column("workers")] + "_schedule-" +
                             row.fields[csv.column("schedule")];
    const Json result = Json::parse(text_of(folder.path("results/" + cell + ".json")));
    EXPECT_EQ(result.at("figures").at("iteration_mean_s").get<double>(),
              std::stod(row.fields[csv.column("iteration_mean_s")]));
  }
}

TEST(Result, ThroughputOptionAndFigureHaveDifferentColumns) {
  const TemporaryFolder folder;
  run_program(run_with({"--platform", "two-hosts", "--out", "results"}), folder.path());
  std::vector<std::string> columns = read_csv(folder.path("results/results.csv")).columns;
  std::ranges::sort(columns);
  EXPECT_EQ(std::ranges::adjacent_find(columns), columns.end())
      << "two columns are called " << *std::ranges::adjacent_find(columns);
}

TEST(Result, IsTheSameBytesForTheSameSeed) {
  for (const char* schedule : {"bsp", "asp", "ssp", "inhad"}) {
    const TemporaryFolder folder;
    for (const char* out : {"one", "two"})
      EXPECT_EQ(run_program(run_with({"--platform", "pcie-8x4-10gbe", "--workers", "8",
                                      "--schedule", schedule, "--jitter", "0.2", "--iterations",
                                      "3", "--trace", "--out", out}),
                            folder.path())
                    .code,
                0);
    const auto one = files_of(folder.path("one"));
    EXPECT_EQ(one.size(), 4U);  // the result, the table, two traces
    EXPECT_GT(lines_in(one.at("result.trace.csv")), 1U);
    EXPECT_TRUE(one == files_of(folder.path("two"))) << schedule;
  }
}

TEST(Result, DiffersForAnotherSeed) {
  const TemporaryFolder folder;
  EXPECT_EQ(run_program(run_with({"--platform", "two-hosts", "--jitter", "0.2", "--seed", "1,2",
                                  "--trace", "--out", "results"}),
                        folder.path())
                .code,
            0);
  EXPECT_NE(text_of(folder.path("results/seed-1.trace.csv")),
            text_of(folder.path("results/seed-2.trace.csv")));
}

TEST(Sweeps, DoNotDependOnTheNumberOfProcesses) {
  const TemporaryFolder folder;
  for (const char* jobs : {"1", "3"})
    EXPECT_EQ(run_program(run_with({"--platform", "pcie-8x4-10gbe", "--workers", "1,2,8",
                                    "--schedule", "bsp,asp", "--jobs", jobs, "--out", jobs}),
                          folder.path())
                  .code,
              0);
  EXPECT_TRUE(files_of(folder.path("1")) == files_of(folder.path("3")));
}

TEST(Sweeps, PrintNoProgressWithoutTerminal) {
  const TemporaryFolder folder;
  const Ended ended =
      run_program(run_with({"--platform", "two-hosts", "--workers", "1,2"}), folder.path());
  EXPECT_EQ(ended.err, "");
  EXPECT_EQ(ended.out.find('\r'), std::string::npos);
  EXPECT_TRUE(fs::is_empty(folder.path()));  // without --out nothing is written
}

TEST(Resumption, SimulatesBrokenAndChangedCellsAgain) {
  const TemporaryFolder folder;
  const Arguments arguments = run_with({"--platform", "two-hosts", "--out", "results", "--resume"});
  EXPECT_EQ(run_program(arguments, folder.path()).code, 0);
  const std::string complete = text_of(folder.path("results/result.json"));
  for (const std::string& broken : {complete.substr(0, complete.size() / 2), std::string("")}) {
    folder.write("results/result.json", broken);
    const Ended ended = run_program(arguments, folder.path());
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(text_of(folder.path("results/result.json")), complete) << "from: " << broken;
  }
  Arguments other = arguments;
  other.insert(other.end(), {"--batch", "64"});
  EXPECT_EQ(run_program(other, folder.path()).code, 0);
  EXPECT_NE(text_of(folder.path("results/result.json")), complete);
}

TEST(Resumption, WritesATraceThatIsMissing) {
  const TemporaryFolder folder;
  Arguments arguments = run_with({"--platform", "two-hosts", "--out", "results"});
  EXPECT_EQ(run_program(arguments, folder.path()).code, 0);
  arguments.insert(arguments.end(), {"--resume", "--trace"});
  EXPECT_EQ(run_program(arguments, folder.path()).code, 0);
  EXPECT_TRUE(fs::exists(folder.path("results/result.trace.csv")));
}

}  // namespace
}  // namespace syncline

// Runs, sweeps and validations, as a user starts them.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <regex>
#include <sys/inotify.h>

#include "sim/setup/csv.h"
#include "tests/unit/errors.h"
#include "tests/unit/program.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Arguments = std::vector<std::string>;

Arguments run_with(const Arguments& more) {
  Arguments arguments{"run", "--model", "resnet50", "--throughput", "100"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// Every file of a folder by name.
std::map<std::string, std::string> files_of(const std::string& folder) {
  std::map<std::string, std::string> texts;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      texts[entry.path().lexically_relative(folder).string()] = text_of(entry.path().string());
  return texts;
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

TEST(Result, HasALinePerCellInTheCsv) {
  const TemporaryFolder folder;
  const Ended ended = run_program(run_with({"--platform", "two-hosts", "--workers", "1,2",
                                            "--schedule", "bsp,ssp", "--out", "results"}),
                                  folder.path());
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(lines_in(ended.out), 8U) << ended.out;  // a title, four cells, how, and what won
  const Csv csv = read_csv(folder.path("results/results.csv"));
  ASSERT_EQ(csv.rows.size(), 4U);
  for (const char* column : {"workers", "schedule", "staleness", "model", "platform", "throughput",
                             "scaling_efficiency", "iteration_mean_s", "staleness_mean"})
    EXPECT_NO_THROW(csv.column(column));
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
  EXPECT_TRUE(fs::is_empty(folder.path()));  // without --out nothing is kept
}

// Reads a folder's events until a file with this ending appears.
void wait_for_file(int watch, const std::string& ending) {
  for (;;) {
    pollfd file{.fd = watch, .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&file, 1, 120000), 1) << "no file *" << ending << " in two minutes";
    alignas(inotify_event) std::array<char, 8192> buffer{};
    const ssize_t size = read(watch, buffer.data(), buffer.size());
    for (ssize_t i = 0; i < size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + i);
      if (event->len > 0 && std::string(event->name).ends_with(ending))
        return;
      i += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
  }
}

// Twelve cells, two at a time; slow enough to interrupt.
Arguments long_sweep(const Arguments& more = {}) {
  Arguments arguments =
      run_with({"--platform", "gbe-32x1", "--fidelity", "step", "--iterations", "10", "--seed",
                "1,2,3,4,5,6,7,8,9,10,11,12", "--jobs", "2", "--out", "results"});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

class ControlC : public testing::TestWithParam<bool> {};

TEST_P(ControlC, EndsChildrenAndKeepsFinishedCells) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path("results"));
  const int watch = inotify_init1(IN_CLOEXEC);
  inotify_add_watch(watch, folder.path("results").c_str(), IN_CREATE | IN_MOVED_TO);
  const Program program(long_sweep(), folder.path());
  wait_for_file(watch, ".json");
  close(watch);
  program.interrupt(GetParam());
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 130);
  EXPECT_FALSE(program.left_children());
  const auto kept = files_of(folder.path("results"));
  EXPECT_GE(kept.size(), 1U);
  for (int seed = 1; seed <= 12; ++seed)  // the table of what is done
    EXPECT_EQ(ended.out.find("\n" + std::to_string(seed) + " ") != std::string::npos,
              kept.contains("seed-" + std::to_string(seed) + ".json"))
        << ended.out;
  EXPECT_EQ(ended.err.substr(ended.err.find("syncline: ")),  // on a slow machine, after progress
            "syncline: interrupted: " + std::to_string(12 - kept.size()) +
                " of 12 cells are missing; the same command with --resume simulates them\n");
  EXPECT_LT(kept.size(), 12U);
  for (const auto& [name, text] : kept) {
    EXPECT_TRUE(name.ends_with(".json")) << name << " was left behind";
    EXPECT_TRUE(Json::accept(text)) << name;
  }

  const std::string first = folder.path("results/" + kept.begin()->first);
  const auto written = fs::last_write_time(first);
  const Ended resumed = run_program(long_sweep({"--resume"}), folder.path());
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(fs::last_write_time(first), written) << "a finished cell was simulated again";
  EXPECT_EQ(lines_in(resumed.out), 14U);
  const auto all = files_of(folder.path("results"));
  EXPECT_EQ(all.size(), 13U);  // and results.csv
  EXPECT_EQ(read_csv(folder.path("results/results.csv")).rows.size(), 12U);
  for (const auto& [name, text] : kept)
    EXPECT_EQ(all.at(name), text);
}

INSTANTIATE_TEST_SUITE_P(To, ControlC, testing::Bool(), [](const testing::TestParamInfo<bool>& on) {
  return std::string(on.param ? "TheTerminalsGroup" : "TheProgramAlone");
});

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

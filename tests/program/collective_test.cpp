// `syncline collective`: times that follow by arithmetic, the table's form, and its comparison with
// a log of all_reduce_perf.
#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

const std::string two_by_two = "cloud:nodes=2:gpus=2:cards=1x100Gbps";

Ended run_collective(std::vector<std::string> arguments, const std::string& folder = "") {
  arguments.insert(arguments.begin(), "collective");
  return run_program(arguments, folder);
}

Json table_of(std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  const Ended ended = run_collective(arguments);
  EXPECT_EQ(ended.code, 0) << ended.err;
  return Json::parse(ended.out);
}

// By row, of an exchange.
std::vector<double> times_of(const Json& json, std::size_t exchange = 0) {
  std::vector<double> times;
  for (const Json& row : json["rows"])
    times.push_back(row["exchanges"][exchange]["time_s"]);
  return times;
}

void refuses_table(const std::vector<std::string>& arguments,
                   const std::vector<std::string>& words) {
  const Ended ended = run_collective(arguments);
  EXPECT_EQ(ended.code, 2) << ended.out;
  EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
  EXPECT_EQ(ended.out, "");
  expect_mentions(ended.err, words);
}

// Two hosts, 10 us and 1.25 GB/s apart: a ring of n = 2 takes 2 (n - 1) steps of half the bytes.
TEST(CollectiveTimes, OfARingAreStepsOfLatencyAndBytes) {
  for (const char* fidelity : {"analytic", "step", "flow"}) {
    const Json json = table_of({"--platform", "two-hosts", "--exchange", "ring", "--sizes",
                                "8,1M,1G", "--fidelity", fidelity});
    EXPECT_EQ(json["workers"], 2);
    EXPECT_EQ(json["exchanges"][0]["simulated_as"], fidelity);
    for (const Json& row : json["rows"]) {
      const double bytes = row["bytes"];
      const double expected_s = 2 * (1e-5 + bytes / 2 / 1.25e9);
      const Json& ring = row["exchanges"][0];
      EXPECT_EQ(row["elements"], bytes / 4);
      EXPECT_NEAR(ring["time_s"], expected_s, 1e-6 * expected_s) << fidelity;
      EXPECT_NEAR(ring["algbw_Bps"], bytes / expected_s, 1e-6 * bytes / expected_s);
      EXPECT_EQ(ring["busbw_Bps"], ring["algbw_Bps"]);  // 2 (n - 1) / n = 1
    }
    EXPECT_EQ(json["exchanges"][0]["busiest_link"]["full_at_busbw_Bps"], 1.25e9);
  }
}

// Of n = 4 workers, two on each node, 2 (n - 1) / n of the bytes cross each card of 12.5 GB/s.
TEST(CollectiveTimes, TendToTheBandwidthOfACard) {
  const Json json =
      table_of({"--platform", two_by_two, "--exchange", "ring", "--sizes", "8,...,16G"});
  ASSERT_EQ(json["rows"].size(), 32U);
  double before_Bps = 0;
  for (const Json& row : json["rows"]) {
    const Json& ring = row["exchanges"][0];
    const double busbw_Bps = ring["busbw_Bps"];
    EXPECT_NEAR(busbw_Bps, 1.5 * static_cast<double>(ring["algbw_Bps"]), 1e-9 * busbw_Bps);
    EXPECT_GT(busbw_Bps, before_Bps);
    EXPECT_LT(busbw_Bps, 12.5e9);
    before_Bps = busbw_Bps;
  }
  EXPECT_GT(before_Bps, 0.999 * 12.5e9);
}

// Three workers: four steps; the shares of a size that three does not divide differ by a byte.
TEST(CollectiveTimes, OfSizesThatDoNotDivideAreWithinAByteAStep) {
  const std::vector<double> times =
      times_of(table_of({"--platform", "cloud:nodes=3:gpus=1:cards=1x100Gbps", "--exchange", "ring",
                         "--sizes", "12,1000000"}));
  const double steps_of_latency_s = times[0] - 4 * 4 / 12.5e9;
  EXPECT_NEAR(times[1], steps_of_latency_s + 4 * 1e6 / 3 / 12.5e9, 4 / 12.5e9);
}

TEST(CollectiveTimes, SimulatedStepByStepAreThoseOfTheClosedForm) {
  const std::vector<std::string> options{"--platform",      two_by_two, "--sizes",   "64K,1M,64M",
                                         "--step-overhead", "3e-6",     "--exchange"};
  for (const std::string exchange : {"ring", "tree", "halving-doubling", "hierarchical"}) {
    std::vector<std::string> all = options;
    all.push_back(exchange);
    const std::vector<double> closed = times_of(table_of(all));
    all.insert(all.end(), {"--fidelity", "step", "--jobs", "2"});
    const std::vector<double> stepped = times_of(table_of(all));
    for (std::size_t i = 0; i < closed.size(); ++i)
      EXPECT_NEAR(stepped[i], closed[i], 1e-6 * closed[i]) << exchange;
  }
}

TEST(CollectiveTables, HaveABlockForEachExchangeAndMarkTheFastest) {
  const Ended ended =
      run_collective({"--platform", two_by_two, "--sizes", "8,1G", "--exchange", "ring,tree"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  expect_mentions(ended.out, {"4 workers on 2 nodes, by closed form", "ring", "tree",
                              "      time    algbw    busbw       time    algbw    busbw\n",
                              "           8             2   float ", "# *: the fastest\n"});
  for (const Json& row : table_of({"--platform", two_by_two, "--sizes", "8,1G"})["rows"]) {
    ASSERT_EQ(row["exchanges"].size(), 4U);
    double fastest_s = 1e9;
    for (const Json& one : row["exchanges"])
      fastest_s = std::min(fastest_s, one["time_s"].get<double>());
    for (const Json& one : row["exchanges"])
      EXPECT_EQ(one["fastest"].get<bool>(), one["time_s"] <= fastest_s * (1 + 1e-6));
  }
}

// A buffer is no model, whose states might not fit into a device.
TEST(CollectiveTables, OfLargeBuffersWarnOfNothing) {
  const Json json =
      table_of({"--platform", "dgx:nodes=2", "--exchange", "ring", "--sizes", "1T,8,64K"});
  EXPECT_EQ(json["warnings"].size(), 0U) << json["warnings"];
  EXPECT_NEAR(json["exchanges"][0]["busiest_link"]["full_at_busbw_Bps"], 400e9, 1e-6 * 400e9);
}

TEST(CollectiveTables, SayWhatRealityLeavesOfCards) {
  const std::vector<std::string> words{
      "--platform", "dgx:nodes=2:cards=8x400Gbps:ib", "--exchange", "ring", "--sizes", "1T"};
  const double nominal_s = times_of(table_of(words))[0];
  for (const auto& [option, value] :
       {std::pair("--reality", "typical"), {"--network-efficiency", "0.96"}}) {
    std::vector<std::string> more = words;
    more.insert(more.end(), {option, value});
    EXPECT_NEAR(times_of(table_of(more))[0] * 0.96, nominal_s, 1e-4 * nominal_s) << option;
  }
  std::vector<std::string> typical = words;
  typical.insert(typical.end(), {"--reality", "typical"});
  expect_mentions(run_collective(typical).out,
                  {"# reality: typical: network-efficiency = 0.96 (ib, ", "no framework is named"});
}

TEST(CollectiveTables, LeaveOutExchangesThatTheClusterCannotRunUnlessTheyAreNamed) {
  const Ended ended = run_collective({"--platform", two_by_two, "--workers", "3", "--sizes", "8"});
  EXPECT_EQ(ended.code, 0);
  expect_mentions(ended.err, {"left out: exchange = hierarchical: every node needs the same"});
  refuses_table(
      {"--platform", two_by_two, "--workers", "3", "--sizes", "8", "--exchange", "hierarchical"},
      {"hierarchical: every node needs the same number of workers"});
}

TEST(CollectiveTables, RefuseWhatHasNoMeaning) {
  for (const std::string option :
       {"model", "schedule", "compressor", "learn", "batch", "framework"})
    refuses_table({"--platform", two_by_two, "--" + option, "x"},
                  {"--" + option + " has no meaning"});
  refuses_table({"--sizes", "8"}, {"platform is not given"});
  refuses_table({"--platform", two_by_two, "--sizes", "7"}, {"--sizes: size '7'"});
  refuses_table({"--platform", two_by_two, "--workers", "1"},
                {"one worker: an all-reduce needs two or more"});
  refuses_table({"--platform", two_by_two, "--workers", "2,4"},
                {"--workers 2,4: allowed is one value"});
  refuses_table({"--platform", two_by_two, "--exchange", "auto"}, {"--exchange auto"});
  refuses_table({"--platform", two_by_two, "--exchange", "rong"}, {"unknown exchange 'rong'"});
  refuses_table({"--platform", two_by_two, "--exchange", "gtopk"}, {"gtopk merges lists"});
  refuses_table({"--platform", two_by_two, "a.cfg"}, {"'a.cfg'"});
  refuses_table({"--platform", two_by_two, "--network", "lv08"}, {"lv08 has no closed form"});
  refuses_table({"--platform", two_by_two, "--measured", ""}, {"--measured is empty"});
  refuses_table({"--platform", two_by_two, "--measured", "none.txt"}, {"none.txt: no such file"});
}

// Four GPUs on two nodes, with bus bandwidths of 6.25 GB/s (half of the card's) and 10 GB/s.
std::string four_gpu_log() {
  std::string text;
  for (int rank = 0; rank < 4; ++rank)
    text += "node: #  Rank " + std::to_string(rank) + " Pid 7 on n" + std::to_string(rank / 2) +
            " device " + std::to_string(rank % 2) + " [0x00] T4\n";
  return text +
         "node: # size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
         "node: 1000002 500001 half sum -1 1 1 1 0 240.0 4.17 6.25 0\n"
         "node: 1000000000 500000000 half sum -1 1 1 1 0 150000 6.67 10.0 0\n";
}

TEST(CollectiveLogs, AreComparedRowByRow) {
  const TemporaryFolder folder;
  const std::string log = folder.write("log.txt", four_gpu_log());
  const Json json =
      table_of({"--platform", two_by_two, "--exchange", "ring,tree", "--measured", log});
  ASSERT_EQ(json["rows"].size(), 2U);
  std::vector<double> errors;
  for (const Json& row : json["rows"]) {
    EXPECT_EQ(row["type"], "half");
    const Json& ring = row["exchanges"][0];
    errors.push_back(
        static_cast<double>(ring["time_s"]) / static_cast<double>(row["measured"]["time_s"]) - 1);
    EXPECT_NEAR(ring["error"], errors.back(), 1e-12);
    EXPECT_EQ(
        ring["nearest"].get<bool>(),
        std::abs(errors.back()) <= std::abs(row["exchanges"][1]["error"].get<double>()) + 1e-6);
  }
  const Json& ring = json["exchanges"][0];
  EXPECT_NEAR(ring["error_median"], (std::abs(errors[0]) + std::abs(errors[1])) / 2, 1e-12);
  EXPECT_NEAR(ring["error_worst"], errors[0], 1e-12);
  EXPECT_EQ(ring["error_worst_bytes"], 1000002);
  EXPECT_NEAR(ring["largest_of_busiest_link"], 10 / 12.5, 1e-6);
  const Ended text =
      run_collective({"--platform", two_by_two, "--exchange", "ring", "--measured", log});
  expect_mentions(text.out, {"# measured: the in-place times of " + log,
                             "80.0 % of the 12.50 GB/s with which ring would fill node0-nic"});
}

TEST(CollectiveLogs, OfOtherClustersAreRefused) {
  const TemporaryFolder folder;
  const std::string log = folder.write("log.txt", four_gpu_log());
  refuses_table({"--platform", two_by_two, "--workers", "2", "--measured", log},
                {"log.txt: 4 GPUs, but the cluster has 2 workers"});
  refuses_table({"--platform", two_by_two, "--sizes", "1M", "--measured", log},
                {"no row of 1048576 bytes"});
  refuses_table({"--platform", two_by_two, "--fidelity", "step", "--measured", log},
                {"log.txt: a row of 1000002 bytes"});
  const Json json = table_of({"--platform", "cloud:nodes=4:gpus=1:cards=1x100Gbps", "--sizes",
                              "1000000000", "--measured", log});
  expect_mentions(json["warnings"][0], {"are on 2 nodes, the workers on 4"});
}

TEST(CollectiveFiles, AreWrittenWholeAndReplaceNoOthers) {
  const TemporaryFolder folder;
  const std::string log = folder.write("log.txt", four_gpu_log());
  const Ended ended = run_collective(
      {"--platform", two_by_two, "--measured", log, "--svg", "a.svg", "--csv", "a.csv"},
      folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  expect_mentions(text_of(folder.path("a.svg")), {"<svg", "bus bandwidth, GB/s", "measured"});
  const std::string csv = text_of(folder.path("a.csv"));
  EXPECT_EQ(lines_in(csv), 1 + 2 * 5U);
  EXPECT_TRUE(csv.starts_with("bytes,elements,type,exchange,time_s,algbw_Bps,busbw_Bps,")) << csv;
  expect_mentions(csv, {"measured_s,error,way\n", ",ring LL128\n", ",tree Simple\n"});
  for (const char* flag : {"--svg", "--csv"}) {
    const Ended refused = run_collective(
        {"--platform", two_by_two, "--measured", log, flag, "log.txt"}, folder.path());
    EXPECT_EQ(refused.code, 2);
    EXPECT_EQ(lines_in(refused.err), 1U);
  }
}

// Of 2 x 8 H100 as NCCL 2.30 chooses: 64 KiB by a tree of LL, which takes 6.8 + 2 (7 x 0.6 + 5) us
// and 2 b at 39 GB/s, of which trees keep 0.6 at 2^10 times 64 bytes.
TEST(CollectiveTimes, OfNcclNameItsAlgorithmAndProtocol) {
  const std::vector<std::string> arguments{"--platform", "dgx:nodes=2", "--exchange",
                                           "nccl",       "--sizes",     "64K,2G,8"};
  const Json json = table_of(arguments);
  EXPECT_EQ(json["rows"][0]["exchanges"][0]["way"], "tree LL");
  EXPECT_EQ(json["rows"][1]["exchanges"][0]["way"], "NVLSTree Simple");
  const double tree_s = (6.8 + 2 * (7 * 0.6 + 5)) * 1e-6;
  EXPECT_NEAR(times_of(json)[0], tree_s + 2 * 65536 / (0.6 * 39e9), 1e-9);
  EXPECT_NEAR(times_of(json)[2], tree_s + 2 * 8 / 39e9, 1e-9);
  const Ended ended = run_collective(arguments);
  EXPECT_TRUE(ended.out.find("# nccl: tree LL up to 65536 B, NVLSTree Simple\n") !=
              std::string::npos)
      << ended.out;
  std::vector<std::string> steps = arguments;
  steps.insert(steps.end(), {"--fidelity", "step"});
  steps[5] = "64K";
  EXPECT_NEAR(times_of(table_of(steps))[0] / times_of(json)[0], 1, 1e-3);
}

// An H800 has NVLink of 200 GB/s, as slow as between two generations, and a switch that adds.
TEST(CollectiveTimes, OfNcclAreOfTheNodesDevice) {
  const auto way = [](const std::string& platform, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--platform", platform, "--exchange", "nccl", "--sizes", "1G"});
    return table_of(more)["rows"][0]["exchanges"][0]["way"];
  };
  const std::string slow = "dgx:nodes=2:cards=8x200Gbps:nvlink=200GBps";
  EXPECT_EQ(way(slow + ":device=h100"), "NVLSTree Simple");
  EXPECT_EQ(way(slow + ":device=a100"), "ring Simple");
  EXPECT_EQ(way(slow + ":device=h100", {"--device", "a100"}), "ring Simple");
  EXPECT_EQ(way(slow + ":device=mi300x:speed=80Tf"), "ring Simple");  // RCCL
  EXPECT_EQ(way("cloud:nodes=4:gpus=1:device=k80"), "ring Simple");
  // GPUs of two generations.
  const Json mixed =
      table_of({"--platform", "hetero-v100-a100", "--exchange", "nccl", "--sizes", "8,...,1G"});
  for (const Json& row : mixed["rows"])
    EXPECT_EQ(row["exchanges"][0]["way"].get<std::string>().find("LL128"), std::string::npos);
}

}  // namespace
}  // namespace syncline

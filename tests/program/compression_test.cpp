// Which compressor, exchange and cost table a scenario gets, and which combinations a sweep skips.
#include "sim/traffic/compression.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kernels/compressor.h"
#include "kernels/philox.h"
#include "sim/catalogue/files.h"
#include "sim/options/expand.h"
#include "sim/options/resolve.h"
#include "tests/program/program.h"
#include "tests/unit/errors.h"
#include "tests/unit/given.h"

namespace syncline {
namespace {

std::string written(const Scenario& scenario, const std::string& key) {
  const auto found = scenario.written.find(key);
  return found == scenario.written.end() ? "" : found->second;
}

TEST(DeviceOf, IsTheTablesNameWithoutItsProvenance) {
  EXPECT_EQ(device_of("v100-published"), "v100");
  EXPECT_EQ(device_of("a/b/h100-modelled.csv"), "h100");
  EXPECT_EQ(device_of("h100-measured.csv"), "h100");
  EXPECT_EQ(device_of("rtx2080ti"), "rtx2080ti");
  EXPECT_EQ(device_of(""), "");
}

TEST(TopKSgdScenario, IsExactTopKGatheredInOneBufferByDefault) {
  const Scenario plain = resolve(given({{"schedule", "topk-sgd"}}));
  EXPECT_EQ(plain.compressor->name, "topk");
  EXPECT_EQ(plain.exchange->name, "allgather");
  EXPECT_EQ(plain.fusion.kind, Fusion::Kind::all);
  EXPECT_EQ(written(plain, "compressor"), "topk");
  EXPECT_EQ(written(plain, "density"), "0.001");
  EXPECT_EQ(written(plain, "bucket-bytes"), "all");
  const Scenario chosen = resolve(given({{"schedule", "topk-sgd"},
                                         {"compressor", "gaussiank"},
                                         {"exchange", "gtopk"},
                                         {"bucket-bytes", "0"}}));
  EXPECT_EQ(chosen.compressor->name, "gaussiank");
  EXPECT_EQ(chosen.exchange->name, "gtopk");
  EXPECT_EQ(chosen.fusion.kind, Fusion::Kind::bytes);
  EXPECT_EQ(chosen.fusion.bytes, 0);
}

TEST(BspScenario, GathersMessagesThatCannotBeAdded) {
  EXPECT_EQ(resolve(given({})).exchange->name, "ring");
  EXPECT_EQ(resolve(given({{"compressor", "topk"}})).exchange->name, "allgather");
  EXPECT_EQ(resolve(given({{"compressor", "qsgd"}})).exchange->name, "allgather");
  EXPECT_EQ(resolve(given({{"compressor", "powersgd"}})).exchange->name, "ring");
  EXPECT_EQ(resolve(given({{"compressor", "topk"}, {"schedule", "asp"}})).exchange->name, "ps");
}

TEST(CatScenario, UsesTheNetworksCostsUnlessACostIsGiven) {
  const Scenario plain = resolve(given({{"compressor", "cat"}}));
  EXPECT_TRUE(plain.network_prices);
  EXPECT_EQ(written(plain, "cost"), "network");
  EXPECT_EQ(written(plain, "fixed-cost"), "");
  const Scenario chosen = resolve(given({{"compressor", "cat"}, {"fixed-cost", "10"}}));
  EXPECT_FALSE(chosen.network_prices);
  EXPECT_EQ(written(chosen, "cost"), "packet");
  EXPECT_EQ(written(chosen, "fixed-cost"), "10");
  EXPECT_FALSE(resolve(given({{"compressor", "topk"}})).network_prices);
}

TEST(CompressorSweep, SkipsAndReportsImpossibleCells) {
  const Sweep sweep =
      expand(given({{"compressor", "none,topk,qsgd"}, {"schedule", "bsp,topk-sgd"}}));
  std::vector<std::pair<std::string, std::string>> cells;
  for (const Scenario& cell : sweep.cells)
    cells.emplace_back(cell.schedule->name, written(cell, "compressor"));
  std::ranges::sort(cells);
  EXPECT_EQ(cells, (std::vector<std::pair<std::string, std::string>>{
                       {"bsp", "none"}, {"bsp", "qsgd"}, {"bsp", "topk"}, {"topk-sgd", "topk"}}));
  ASSERT_EQ(sweep.left_out.size(), 2U);
  expect_mentions(sweep.left_out[0] + sweep.left_out[1], {"none", "qsgd", "topk-sgd"});
}

TEST(CompressorSweep, LeavesOutExchangesThatCannotCarryIt) {
  const Sweep sweep =
      expand(given({{"compressor", "none,topk,powersgd"}, {"exchange", "ring,gtopk"}}));
  std::vector<std::pair<std::string, std::string>> cells;
  for (const Scenario& cell : sweep.cells)
    cells.emplace_back(cell.exchange->name, written(cell, "compressor"));
  std::ranges::sort(cells);
  EXPECT_EQ(cells, (std::vector<std::pair<std::string, std::string>>{
                       {"gtopk", "topk"}, {"ring", "none"}, {"ring", "powersgd"}}));
  EXPECT_EQ(sweep.left_out.size(), 3U);
}

TEST(CompressorSweep, UsesADensityOnlyForCompressorsThatHaveOne) {
  const Sweep sweep = expand(given({{"compressor", "none,topk,qsgd"}, {"density", "0.01,0.1"}}));
  ASSERT_EQ(sweep.cells.size(), 4U);  // none and qsgd once each
  for (const Scenario& cell : sweep.cells)
    EXPECT_EQ(written(cell, "density").empty(), written(cell, "compressor") != "topk");
}

TEST(CompressorSweep, WithWarmUpDensitiesSimulatesCatToo) {
  const Ended ended =
      run_program({"run", "--model", "resnet50", "--platform", "two-hosts", "--throughput", "300",
                   "--device", "v100-modelled", "--schedule", "topk-sgd", "--compressor",
                   "topk,cat", "--warm-up-densities", "dgc", "--iterations", "2"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  expect_mentions(ended.out, {"topk", "cat"});
}

TEST(CompressorSweep, RunsPossibleCellsAndReportsOthers) {
  const TemporaryFolder folder;
  const Ended ended =
      run_program({"run", "--model", "resnet50", "--platform", "two-hosts", "--throughput", "300",
                   "--device", "v100-modelled", "--compressor", "none,topk,qsgd", "--schedule",
                   "bsp,topk-sgd", "--iterations", "2", "--out", "results"},
                  folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(lines_in(ended.err), 2U) << ended.err;
  expect_mentions(ended.err, {"left out: ", "none", "qsgd", "topk-sgd"});
  EXPECT_EQ(lines_in(text_of(folder.path("results/results.csv"))), 5U);
}

TEST(CompressorSweep, RunsCellsThatTheTableHasCostsFor) {
  const Ended ended =
      run_program({"run", "--model", "resnet50", "--platform", "two-hosts", "--throughput", "300",
                   "--device", "v100-published", "--compressor", "topk,qsgd", "--bucket-bytes",
                   "all", "--iterations", "2"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
  expect_mentions(ended.err, {"cells left out", "qsgd", "syncline-calibrate"});
  expect_mentions(ended.out, {"topk"});
}

// One error names everything that the table lacks for the scenario, and its command measures all of
// it.
TEST(OwnTable, CommandInErrorCompletesTheTable) {
  const std::vector<std::vector<std::string>> scenarios{
      {"--compressor", "topk"},
      {"--compressor", "topk", "--bucket-bytes", "0", "--dense-below", "1000"},
      {"--compressor", "qsgd", "--exchange", "alltoall", "--bucket-bytes", "merged", "--bits", "3"},
      {"--compressor", "topk", "--exchange", "oktopk", "--density", "0.02"},
      {"--compressor", "gaussiank", "--exchange", "hierarchical", "--bucket-bytes", "1e6"},
      {"--compressor", "powersgd", "--exchange", "ring", "--rank", "3"},
      {"--compressor", "dgc", "--schedule", "topk-sgd", "--warm-up-densities", "dgc"},
      {"--compressor", "topk", "--schedule", "asp", "--pull", "compressed"},
      {"--compressor", "topk", "--schedule", "asp", "--bucket-bytes", "merged"},
      {"--compressor", "topk", "--schedule", "inhad", "--pull", "compressed"},
      {"--compressor", "cat"}};
  for (const std::vector<std::string>& scenario : scenarios) {
    const TemporaryFolder folder;
    const auto calibrate = [&](const std::string& arguments) {
      return std::system(("cd " + folder.path("") + " && " + SYNCLINE_CALIBRATE + " " + arguments +
                          " >calibrate.txt 2>&1")
                             .c_str());
    };
    ASSERT_EQ(calibrate("--model v100 --compressors none --sizes 64 --out own.csv"), 0);
    std::vector<std::string> arguments{"run",
                                       "--model",
                                       "resnet20",
                                       "--platform",
                                       "pcie-8x4-10gbe",
                                       "--workers",
                                       "8",
                                       "--throughput",
                                       "300",
                                       "--iterations",
                                       "2",
                                       "--warmup",
                                       "0",
                                       "--device",
                                       "own.csv"};
    arguments.insert(arguments.end(), scenario.begin(), scenario.end());
    const Ended before = run_program(arguments, folder.path());
    EXPECT_EQ(before.code, 2) << scenario[1];
    EXPECT_EQ(lines_in(before.err), 1U) << before.err;
    const std::string program = ": syncline-calibrate ";
    ASSERT_NE(before.err.find(program), std::string::npos) << before.err;
    ASSERT_EQ(calibrate(before.err.substr(
                  before.err.find(program) + program.size(),
                  before.err.find('\n') - before.err.find(program) - program.size())),
              0)
        << before.err;
    const Ended after = run_program(arguments, folder.path());
    EXPECT_EQ(after.code, 0) << after.err << "after " << before.err;
  }
}

TEST(OwnTable, MisspeltOperationIsReportedWithItsLine) {
  const TemporaryFolder folder;
  folder.write("own.csv",
               "# device: mine\n# provenance: measured\n"
               "compressor,parameters,operation,elements,seconds,p10,p90,wire_bytes,distribution\n"
               "topk,,encod,1,1e-5,0,0,0,gauss\n");
  const Ended ended =
      run_program({"run", "--model", "resnet20", "--platform", "two-hosts", "--throughput", "300",
                   "--compressor", "topk", "--device", "own.csv"},
                  folder.path());
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
  expect_mentions(ended.err, {"own.csv:4: operation 'encod'", "allowed are encode, decode"});
}

TEST(Result, NamesTheTableAndItsProvenance) {
  const std::vector<std::string> arguments{"run",       "--model",      "resnet50", "--platform",
                                           "two-hosts", "--throughput", "300",      "--iterations",
                                           "2",         "--schedule",   "topk-sgd", "--device"};
  for (const auto& [table, provenance] :
       {std::pair("v100-published", "published"), {"v100-modelled", "modelled"}}) {
    std::vector<std::string> all = arguments;
    all.emplace_back(table);
    const Ended ended = run_program(all);
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_mentions(ended.out, {std::string(table) + ".csv", provenance, "V100"});
  }
}

// Law 14 for parameters: at density 1 the step is that of the dense sum, to the bit.
class DensityOne : public testing::TestWithParam<std::string> {};

TEST_P(DensityOne, GivesTheParametersOfTheDenseSum) {
  const Compressor& compressor = Registered<Compressor>::find(GetParam());
  const Settings settings(compressor.options, {{"density", "1"}});
  const int workers = 5;
  const std::size_t elements = 5000;
  std::vector<State> states(workers);
  std::vector<float> dense(elements, 1.0f);
  std::vector<float> sparse = dense;
  for (std::uint32_t step = 0; step < 4; ++step) {
    std::vector<float> sum(elements);
    std::vector<float> decoded(elements);
    for (std::uint32_t w = 0; w < workers; ++w) {
      std::vector<float> gradient(elements);
      for (std::uint32_t i = 0; i < elements; ++i) {
        const PhiloxWords bits = philox({i, step, w, 0}, 7, 0);
        // Values of all magnitudes, and some zeros and denormals.
        gradient[i] = bits[1] % 9 == 0 ? 0.0f
                                       : std::ldexp(static_cast<float>(bits[0]) - 0x1p31f,
                                                    -30 - static_cast<int>(bits[1] % 130));
        sum[i] += gradient[i];
      }
      const Draw draw{compressor.shared_draw ? 1u : w, step, 0};
      Message message;
      compressor.cpu.encode(settings, std::span<const float>(gradient), draw, states[w], message);
      compressor.cpu.decode(settings, message, Precision::fp32, draw, decoded);
    }
    for (std::size_t i = 0; i < elements; ++i) {
      dense[i] -= 0.01f / workers * sum[i];
      sparse[i] -= 0.01f / workers * decoded[i];
      ASSERT_EQ(std::bit_cast<std::uint32_t>(dense[i]), std::bit_cast<std::uint32_t>(sparse[i]))
          << "element " << i << " after step " << step;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, DensityOne, testing::Values("topk", "mstopk", "dgc", "randomk"),
                         [](const auto& about) { return about.param; });

// A new compressor is in no table: its effect on messages can be seen before it is measured.
TEST(Compression, TakesNoTimeWithDeviceNone) {
  const auto run = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"run", "--json", "--platform", "pcie:nodes=2:gpus=2", "--model",
                               "resnet20", "--throughput", "920", "--iterations", "2"});
    const Ended ended = run_program(more);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return nlohmann::json::parse(ended.out).at("cells").at(0).at("result");
  };
  for (const std::string schedule : {"bsp", "asp", "local-sgd", "topk-sgd"}) {
    const auto free = run({"--compressor", "topk", "--device", "none", "--schedule", schedule});
    const auto priced =
        run({"--compressor", "topk", "--device", "v100-modelled", "--schedule", schedule});
    EXPECT_EQ(free["figures"]["compress_s"], 0) << schedule;
    EXPECT_GT(priced["figures"]["compress_s"], 0) << schedule;
    EXPECT_NEAR(free["figures"]["bytes_sent"].get<double>(),
                priced["figures"]["bytes_sent"].get<double>(), 1e3)
        << schedule;
    EXPECT_EQ(free["provenance"]["compression"], "none: making and reading messages takes no time");
    EXPECT_EQ(free["scenario"]["device"], "none");
  }
  EXPECT_EQ(run({"--compressor", "topk", "--device", "none", "--learn",
                 "digits"})["figures"]["compress_s"],
            0);
  const Ended explained =
      run_program({"explain", "--platform", "two-hosts", "--model", "resnet50", "--throughput",
                   "250", "--compressor", "topk", "--density", "0.01", "--device", "none"});
  EXPECT_EQ(explained.code, 0) << explained.err;
  expect_mentions(explained.out, {"compression priced by none", "takes no time"});
  // If a price is missing, the message also names the command that measures it.
  const Ended missing = run_program({"explain", "--platform", "two-hosts", "--model", "resnet50",
                                     "--throughput", "250", "--compressor", "topk", "--device",
                                     "v100-published", "--bucket-bytes", "0"});
  EXPECT_EQ(missing.code, 2);
  expect_mentions(missing.err, {"syncline-calibrate", "device = none", "takes no time"});
}

}  // namespace
}  // namespace syncline

// Tokens per second, and the share of their peak that devices reach.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

Ended trained(const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"run",
                                     "--model",
                                     "llama-2-7b",
                                     "--batch",
                                     "1",
                                     "--precision",
                                     "bf16",
                                     "--workers",
                                     "1,16",
                                     "--platform",
                                     "dgx-a100:nodes=2",
                                     "--efficiency",
                                     "0.5",
                                     "--schedule",
                                     "bsp",
                                     "--iterations",
                                     "3"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments);
}

std::vector<Json> figures_of(const std::vector<std::string>& more) {
  std::vector<std::string> with_json = more;
  with_json.emplace_back("--json");
  const Ended ended = trained(with_json);
  std::vector<Json> figures;
  const Json all = Json::parse(ended.out);
  for (const Json& cell : all["cells"])
    figures.push_back(cell["result"]["figures"]);
  return figures;
}

// A worker alone at half of its peak has an MFU of 50 %. With all of forward recomputed the work is
// 4/3: then the MFU is 37.5 %, hardware utilisation is 50 %, and 25 % of the time is recomputation.
// With 16 workers all three scale. A sample has 4,096 tokens.
TEST(Utilisation, IsThePartOfThePeakThatEfficiencySays) {
  for (const auto& [recompute, mfu] : {std::pair("off", 0.5), std::pair("full", 0.375)}) {
    const std::vector<Json> cells = figures_of({"--recompute", recompute});
    ASSERT_EQ(cells.size(), 2U);
    EXPECT_NEAR(cells[0]["mfu"].get<double>(), mfu, 1e-6) << recompute;
    EXPECT_NEAR(cells[0]["hfu"].get<double>(), 0.5, 1e-6) << recompute;
    EXPECT_NEAR(cells[0]["recomputed"].get<double>(), 1 - mfu / 0.5, 1e-6) << recompute;
    for (const Json& cell : cells) {
      EXPECT_NEAR(cell["mfu"].get<double>(), 0.5 * cell["scaling_efficiency"].get<double>(), 1e-6);
      EXPECT_NEAR(
          cell["tokens_per_s"].get<double>() / cell["throughput_samples_per_s"].get<double>(), 4096,
          1e-6);
    }
  }
  expect_mentions(trained({"--recompute", "full"}).out, {"tokens/s", "MFU", "HFU", "recomputed"});
  EXPECT_EQ(trained({}).out.find("HFU"), std::string::npos);
}

// The peak of a host without a device is unknown, and an image has no tokens.
TEST(Utilisation, IsNullWhereNobodyKnowsIt) {
  const Ended ended =
      run_program({"run", "--model", "resnet50", "--throughput", "100", "--platform", "gbe-32x1",
                   "--workers", "2", "--iterations", "3", "--json"});
  const Json figures = Json::parse(ended.out)["cells"][0]["result"]["figures"];
  for (const char* name : {"mfu", "hfu", "tokens_per_s"})
    EXPECT_TRUE(figures[name].is_null()) << name;
  EXPECT_EQ(figures["recomputed"], 0);
}

}  // namespace
}  // namespace syncline

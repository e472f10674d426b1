// --json: one JSON document on stdout and nothing else; and gates on validation.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

using Arguments = std::vector<std::string>;
using Json = nlohmann::ordered_json;

const Arguments scenario{"--platform",   "two-hosts", "--model",      "resnet20",
                         "--throughput", "100",       "--iterations", "3"};

Json document_of(Arguments arguments, const Arguments& more, int code = 0) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  arguments.emplace_back("--json");
  const Ended ended = run_program(arguments);
  EXPECT_EQ(ended.code, code) << ended.err;
  return Json::parse(ended.out);  // throws if there is anything else
}

TEST(JsonOutput, OfRunHasEveryCellAndWhatWon) {
  const Json one = document_of({"run"}, scenario);
  ASSERT_EQ(one["cells"].size(), 1U);
  EXPECT_EQ(one["cells"][0]["cell"], "result");
  EXPECT_GT(one["cells"][0]["result"]["figures"]["throughput_samples_per_s"], 0);
  Arguments swept = scenario;
  swept.insert(swept.end(), {"--workers", "1,2", "--schedule", "bsp,asp", "--exchange", "ring,ps"});
  const Json sweep = document_of({"run"}, swept);
  EXPECT_EQ(sweep["cells"].size(), 6U);
  EXPECT_FALSE(sweep["ranking"]["sentences"].empty());
  EXPECT_EQ(sweep["ranking"]["fastest_first"].size(), 6U);
  expect_mentions(sweep["left_out"][0], {"asp allows only ps"});
  const TemporaryFolder folder;
  swept.insert(swept.end(), {"--out", folder.path("o")});
  document_of({"run"}, swept);
  const Json report = document_of({"report", folder.path("o")}, {});
  EXPECT_EQ(report["cells"].size(), 6U);
  EXPECT_EQ(report["ranking"]["sentences"][0], sweep["ranking"]["sentences"][0]);
}

TEST(JsonOutput, OfExplainHasTheBounds) {
  Arguments options = scenario;
  options.insert(options.end(), {"--compressor", "none,topk", "--device", "v100-modelled"});
  const Json document = document_of({"explain"}, options);
  ASSERT_EQ(document["cells"].size(), 2U);
  const Json& dense = document["cells"][0];
  EXPECT_EQ(dense["model"]["parameters"], 269722);
  EXPECT_EQ(dense["model"]["gradient_bytes"], 4 * 269722);
  EXPECT_EQ(dense["cluster"]["workers"], 2);
  // A ring of two sends the gradient once each way, in two steps, at 10 us and 1.25 GB/s.
  EXPECT_NEAR(dense["bounds"]["exchange_s"].get<double>(), 2e-5 + 4 * 269722 / 1.25e9, 1e-9);
  EXPECT_NEAR(dense["bounds"]["bound_compute_s"].get<double>(), 0.32, 1e-12);
  EXPECT_TRUE(dense["break_even"].is_null());
  EXPECT_EQ(document["cells"][1]["break_even"]["against"], "ring");
  EXPECT_TRUE(document["cells"][1]["break_even"]["faster_with_overlap"].is_array());
}

TEST(JsonOutput, OfListHasEveryKind) {
  const Json all = document_of({"list"}, {});
  EXPECT_EQ(all.size(), 10U);
  const Json schedules = document_of({"list"}, {"schedules"});
  ASSERT_EQ(schedules.size(), 1U);
  EXPECT_EQ(schedules["schedules"], all["schedules"]);
  const Json& ssp = *std::ranges::find_if(schedules["schedules"],
                                          [](const Json& entry) { return entry["name"] == "ssp"; });
  EXPECT_TRUE(std::ranges::any_of(
      ssp["parameters"], [](const Json& parameter) { return parameter["name"] == "staleness"; }));
}

// Once, a factor of 0.5 came before one of 0.25, because 5 is less than 25.
TEST(Report, HasCellsInTheOrderOfTheirNumbers) {
  const TemporaryFolder folder;
  ASSERT_EQ(
      run_program({"run", "--platform", "two-hosts", "--model", "resnet20", "--throughput", "100",
                   "--iterations", "2", "--bandwidth-factor", "0.25,0.5,1,10,1e-3", "--out", "out"},
                  folder.path())
          .code,
      0);
  const Ended report = run_program({"report", "out", "--json"}, folder.path());
  ASSERT_EQ(report.code, 0) << report.err;
  const Json document = Json::parse(report.out);
  std::vector<double> factors;
  for (const Json& cell : document["cells"])
    factors.push_back(cell["result"]["scenario"]["bandwidth-factor"]);
  EXPECT_EQ(factors, (std::vector{1e-3, 0.25, 0.5, 1.0, 10.0}));
}

}  // namespace
}  // namespace syncline

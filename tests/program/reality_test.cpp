// reality and network-efficiency: what a result says was taken, that it is what the same options do
// by hand, and how mistakes are refused.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"
#include "tests/unit/errors.h"
#include "tests/unit/platform_texts.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;
using Arguments = std::vector<std::string>;

Arguments running(const Arguments& more, const std::string& command = "run") {
  Arguments all{command, "--model", "resnet50", "--batch", "32", "--throughput", "360"};
  for (const auto& [option, value] : {std::pair("--framework", "horovod"),
                                      {"--platform", "dgx:nodes=2:gpus=2:cards=2x200Gbps:ib"}})
    if (std::ranges::count(more, option) == 0)
      all.insert(all.end(), {option, value});
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Json result_of(const Arguments& more) {
  const Ended ended = run_program(running(more));
  EXPECT_EQ(ended.code, 0) << ended.err;
  return Json::parse(ended.out).at("cells").at(0).at("result");
}

// Without what says where a value came from.
std::string without_origin(Json result) {
  result.erase("inputs");
  result["scenario"].erase("reality");
  result["provenance"].erase("reality");
  return result.dump();
}

TEST(TypicalReality, IsTheSameOptionsByHand) {
  for (const std::string fidelity : {"step", "flow", "analytic"}) {
    const Json typical = result_of({"--json", "--fidelity", fidelity, "--reality", "typical"});
    const Json by_hand =
        result_of({"--json", "--fidelity", fidelity, "--network-efficiency", "0.96",
                   "--overlap-slowdown", "0.189", "--straggling", "0.033"});
    EXPECT_TRUE(without_origin(typical) == without_origin(by_hand)) << fidelity;
    EXPECT_FALSE(by_hand.at("provenance").contains("reality"));
    expect_mentions(typical.at("provenance").at("reality").get<std::string>(),
                    {"typical: network-efficiency = 0.96 (ib, ", "Lee et al. 2025"});
  }
}

TEST(TypicalReality, IsTheDefaultOfANamedFrameworkOnANamedKindOfNetwork) {
  EXPECT_EQ(result_of({"--json"}), result_of({"--json", "--reality", "typical"}));
  EXPECT_EQ(result_of({"--json"})["scenario"]["reality"], "typical");
  const auto seconds = [](const Arguments& more) {
    Arguments all{"--json"};
    all.insert(all.end(), more.begin(), more.end());
    return result_of(all)["figures"]["iteration_mean_s"].get<double>();
  };
  const double nominal_s = seconds({"--reality", "nominal"});
  EXPECT_EQ(nominal_s,
            seconds({"--network-efficiency", "1", "--overlap-slowdown", "0", "--straggling", "0"}));
  EXPECT_LT(nominal_s, seconds({}));
}

TEST(NominalReality, IsTheDefaultWhereFrameworkOrKindOfNetworkIsNotNamed) {
  for (const Arguments& unnamed : std::vector<Arguments>{
           {"--framework", "none"}, {"--platform", "dgx:nodes=2:gpus=2:cards=2x200Gbps"}}) {
    Arguments nominal{"--json", "--reality", "nominal"};
    nominal.insert(nominal.end(), unnamed.begin(), unnamed.end());
    const Json left_out = result_of({"--json", unnamed[0], unnamed[1]});
    EXPECT_EQ(without_origin(left_out), without_origin(result_of(nominal)));
    EXPECT_EQ(left_out["scenario"].value("reality", ""), "");
    EXPECT_FALSE(left_out.at("provenance").contains("reality"));
  }
}

// A framework's typical seconds are no choice of their own: frameworks compete. A cell without a
// framework is nominal, and competes with none of them.
TEST(TypicalReality, CompetesOnlyWithTypical) {
  const auto verdict = [](const std::string& frameworks) {
    const Ended ended = run_program(running({"--framework", frameworks, "--iterations", "2"}));
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out;
  };
  expect_mentions(verdict("pytorch-ddp,horovod"), {"framework horovod is the fastest: "});
  expect_mentions(verdict("pytorch-ddp,horovod,none"),
                  {"Of 2 combinations of reality", "at reality typical: ", "framework horovod"});
}

TEST(TypicalReality, IsNamedWhereverAResultIsShown) {
  const TemporaryFolder folder;
  const Arguments more{"--reality", "typical", "--out", "out", "--html", "page.html"};
  const Ended ended = run_program(running(more), folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  expect_mentions(ended.out, {"reality", "network-efficiency = 0.96 (ib, 0.92 to 0.98: NVIDIA"});
  expect_mentions(text_of(folder.path("page.html")),
                  {"reality's values", "network-efficiency = 0.96 (ib, "});
  expect_mentions(text_of(folder.path("out/results.csv")),
                  {",network-efficiency,", ",reality,", ",0.96,", ",typical,"});
  const Ended explained = run_program(running({"--reality", "typical"}, "explain"));
  expect_mentions(explained.out, {"  reality: typical: network-efficiency = 0.96 (ib, "});
}

TEST(BadReality, IsAnsweredInOneLineWithExitCodeTwo) {
  const TemporaryFolder folder;
  folder.write("p.xml", platform({}));
  const std::vector<std::pair<Arguments, std::vector<std::string>>> all{
      {{"--reality", "typcial"}, {"--reality", "typcial", "nominal, typical"}},
      {{"--reality", "typical", "--framework", "none", "--platform", "dgx"},
       {"--reality", "neither a framework nor a kind of network", "cards=8x400Gbps:ib"}},
      {{"--network-efficiency", "2"}, {"network-efficiency = 2", "0.001 to 1"}},
      {{"--network-efficiency", "0.9", "--platform", "p.xml"},
       {"p.xml", "network-efficiency = 0.9", "no link says that it is a network card", "kind"}},
      {{"--platform", "dgx:cards=8x400Gbps:xb"},
       {"cards = 8x400Gbps:xb", "no such kind of network", "ib, ", "roce", "efa", "tcp"}},
      {{"--platform", "dgx:nodes=4:ib"}, {"'ib'", "after the cards", "cards=8x400Gbps:ib"}},
      {{"--platform", "dgx:cards=8x400Gbps:ib:roce"}, {"'roce'", "after the cards"}},
  };
  for (const auto& [arguments, mentions] : all)
    for (const std::string command : {"run", "explain"}) {
      const Ended ended = run_program(running(arguments, command), folder.path());
      EXPECT_EQ(ended.code, 2) << ended.out;
      EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
      expect_mentions(ended.err, mentions);
    }
}

// A typical cell beside a nominal one loses for what only it is charged: once, 200 Gbit/s "was
// slower" than 100 Gbit/s.
TEST(RealityLeftOut, IsNominalInAllCellsWhereOnlySomeNameAKindOfNetwork) {
  const std::string faster = "dgx:nodes=2:gpus=2:cards=2x200Gbps:ib";
  const std::string slower = "dgx:nodes=2:gpus=2:cards=2x100Gbps";
  const auto samples_per_s = [&](const Arguments& more, const std::string& note) {
    const Ended ended = run_program(running(more));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.err.find("platforms of 1 of 2 cells name no kind") != std::string::npos,
              !note.empty())
        << ended.err;
    expect_mentions(ended.err, {note});
    std::vector<double> all;
    const Json document = Json::parse(ended.out);
    for (const Json& cell : document.at("cells"))
      all.push_back(cell.at("result").at("figures").at("throughput_samples_per_s").get<double>());
    return all;
  };
  const std::string both = faster + "," + slower;
  const std::string said = "reality = nominal in all";
  const auto left_out = samples_per_s({"--json", "--platform", both}, said);
  EXPECT_EQ(left_out, samples_per_s({"--json", "--platform", both, "--reality", "nominal"}, ""));
  EXPECT_GT(left_out.at(0), left_out.at(1));
  // Cells that are all typical stay so.
  const auto typical = samples_per_s({"--json", "--platform", faster + "," + slower + ":ib"}, "");
  EXPECT_LT(typical.at(0), left_out.at(0));
  EXPECT_GT(typical.at(0), typical.at(1));
  // So do cells beside one to which the user has given all values.
  const auto given = samples_per_s({"--json", "--platform", faster, "--network-efficiency", "0.96",
                                    "--straggling", "0.033", "--schedule", "bsp,asp"},
                                   "");
  EXPECT_NEAR(given.at(0), typical.at(0), 1e-6 * typical.at(0));
}

}  // namespace
}  // namespace syncline

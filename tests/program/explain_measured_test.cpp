// `explain --measured`: a run that differs from the scenario in one thing is explained by that
// thing, with its amount.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"
#include "tests/unit/errors.h"
#include "tests/unit/platform_texts.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;
using Options = std::map<std::string, std::string>;

std::vector<std::string> explaining(Options options, const Options& others = {}) {
  for (const auto& [option, value] : others)
    options[option] = value;
  std::vector<std::string> arguments{"explain"};
  for (const auto& [option, value] : options)
    arguments.insert(arguments.end(), {"--" + option, value});
  return arguments;
}

Json explained_with(const Options& options, const Options& others) {
  std::vector<std::string> arguments = explaining(options, others);
  arguments.emplace_back("--json");
  const Ended ended = run_program(arguments);
  EXPECT_EQ(ended.code, 0) << ended.err;
  return Json::parse(ended.out);
}

// The iteration of a scenario with these other values.
double seconds_planted(const Options& options, const Options& others) {
  const Json bounds = explained_with(options, others).at("cells").at(0).at("bounds");
  return bounds.contains("unit_after_unit_s") ? bounds.at("unit_after_unit_s")
                                              : bounds.at("bucket_after_bucket_s");
}

Json causes_found(const Options& options, double measured_s) {
  return explained_with(options, {{"measured", Json(measured_s).dump() + "s"}}).at("causes");
}

double amount_found(const Json& all, const std::string& name) {
  for (const Json& cause : all)
    if (cause.at("name") == name)
      return cause.value("amount", 0.0);
  return -1;
}

// 3 nodes of 5 GPUs with 3 cards: nothing divides evenly.
const Options odd_cluster{{"platform", "pcie:nodes=3:gpus=5:cards=3x10Gbps:ib"},
                          {"model", "vgg16"},
                          {"throughput", "150"},
                          {"batch", "24"}};
// A file, of hosts with one card each, in many buckets.
const Options of_file{{"platform", "gbe-32x1"}, {"model", "resnet50"}, {"throughput", "160"},
                      {"bucket-bytes", "4e6"},  {"batch", "16"},       {"workers", "12"}};
const Options of_shards{{"platform", "dgx:nodes=4:cards=8x100Gbps"},
                        {"model", "llama-2-7b"},
                        {"schedule", "fsdp"},
                        {"throughput", "3"},
                        {"batch", "1"}};

TEST(ExplainMeasured, FindsHowLittleCardsCarry) {
  const double slow_s =
      seconds_planted(odd_cluster, {{"platform", "pcie:nodes=3:gpus=5:cards=3x3Gbps:ib"}});
  EXPECT_NEAR(amount_found(causes_found(odd_cluster, slow_s), "cards"), 0.3, 1e-4);
  const double slow_shards_s =
      seconds_planted(of_shards, {{"platform", "dgx:nodes=4:cards=8x20Gbps"}});
  EXPECT_NEAR(amount_found(causes_found(of_shards, slow_shards_s), "cards"), 0.2, 1e-4);
  const double slow_file_s = seconds_planted(of_file, {{"bandwidth-factor", "0.25"}});
  EXPECT_NEAR(amount_found(causes_found(of_file, slow_file_s), "cards"), 0.25, 1e-4);
}

TEST(ExplainMeasured, FindsHowLittleLinksInsideNodesCarry) {
  const std::string fast = "pcie:nodes=2:gpus=4:cards=4x100Gbps:pcie=12GBps";
  const std::string slow = "pcie:nodes=2:gpus=4:cards=4x100Gbps:pcie=3GBps";
  const Options one_node{{"platform", fast},
                         {"workers", "4"},
                         {"model", "vgg16"},
                         {"throughput", "300"},
                         {"batch", "16"}};
  const Json found = causes_found(one_node, seconds_planted(one_node, {{"platform", slow}}));
  EXPECT_NEAR(amount_found(found, "inside"), 0.25, 1e-4);
  EXPECT_EQ(amount_found(found, "cards"), -1) << "one node has no links between nodes";
}

// Slots of 6 GB/s are narrower than the host, which all eight GPUs share.
TEST(ExplainMeasured, NamesTheHostWhereItIsBusier) {
  const Options one_node{{"platform", "pcie:nodes=1:gpus=8:host=13.4GBps"},
                         {"model", "resnet50"},
                         {"throughput", "253"}};
  const double slow_s =
      seconds_planted(one_node, {{"platform", "pcie:nodes=1:gpus=8:host=6.7GBps:pcie=3GBps"}});
  const Json found = causes_found(one_node, slow_s);
  EXPECT_NEAR(amount_found(found, "inside"), 0.5, 1e-4);
  for (const Json& cause : found)
    if (cause.at("name") == "inside")
      expect_mentions(cause.at("sentence").get<std::string>(), {"6.7 of 13.4 GB/s"});
}

// A FATPIPE link is a link, too: it limits each flow by itself.
TEST(ExplainMeasured, FindsHowLittleASwitchInsideNodesCarries) {
  const TemporaryFolder folder;
  std::string hosts, links, routes;
  for (const std::string node : {"0", "1"}) {
    for (const std::string host : {"a", "b"})
      hosts += "<host id=\"" + host + node + "\" speed=\"1Tf\"><prop id=\"node\" value=\"n" + node +
               "\"/></host>\n";
    links += "<link id=\"switch" + node +
             "\" bandwidth=\"1GBps\" latency=\"1us\" sharing_policy=\"FATPIPE\"/>\n";
    routes += "<route src=\"a" + node + "\" dst=\"b" + node + "\"><link_ctn id=\"switch" + node +
              "\"/></route>\n";
  }
  links += "<link id=\"card\" bandwidth=\"10GBps\" latency=\"5us\"/>\n";
  for (const std::string from : {"a", "b"})
    for (const std::string to : {"a", "b"})
      routes +=
          "<route src=\"" + from + "0\" dst=\"" + to + "1\"><link_ctn id=\"card\"/></route>\n";
  const Options two_nodes{
      {"platform", folder.write("p.xml", head +
                                             "<platform version=\"4.1\">"
                                             "<zone id=\"z\" routing=\"Full\">\n" +
                                             hosts + links + routes + "</zone></platform>\n")},
      {"model", "vgg16"},
      {"throughput", "300"},
      {"batch", "16"}};
  const double slow_s = seconds_planted(two_nodes, {{"bandwidth-factor", "switch*:0.25"}});
  const Json found = causes_found(two_nodes, slow_s);
  EXPECT_NEAR(amount_found(found, "inside"), 0.25, 1e-4);
  EXPECT_NE(amount_found(found, "cards"), amount_found(found, "inside"));
}

TEST(ExplainMeasured, FindsStepsAndComputation) {
  for (const Options& options : {odd_cluster, of_file}) {
    const double steps_s = seconds_planted(options, {{"step-overhead", "3e-3"}});
    EXPECT_NEAR(amount_found(causes_found(options, steps_s), "steps"), 3e-3, 1e-6);
  }
  const Options alone{
      {"platform", "two-hosts"}, {"workers", "1"}, {"model", "resnet50"}, {"throughput", "100"}};
  const Json found = causes_found(alone, seconds_planted(alone, {{"throughput", "40"}}));
  EXPECT_NEAR(amount_found(found, "computation"), 2.5, 1e-4);
  EXPECT_EQ(amount_found(found, "steps"), -1) << "a worker alone exchanges nothing";
  const double slow_s = seconds_planted(of_shards, {{"throughput", "0.6"}});
  EXPECT_NEAR(amount_found(causes_found(of_shards, slow_s), "computation"), 5, 1e-3);
}

// 2 nodes of 3 GPUs with 2 cards.
const Options small_cluster{{"platform", "pcie:nodes=2:gpus=3:cards=2x10Gbps:ib"},
                            {"model", "vgg16"},
                            {"throughput", "150"},
                            {"batch", "24"}};

TEST(ExplainMeasured, NamesTheOptionThatDiffersAmongTheFirstTwo) {
  struct Planted {
    std::string name;
    Options scenario, run;
  };
  const std::vector<Planted> planted{{"no-overlap", {}, {{"overlap", "off"}}},
                                     {"one-card", {}, {{"channels", "1"}}},
                                     {"flat-ring", {{"exchange", "tree"}}, {{"exchange", "ring"}}},
                                     {"tensor-by-tensor",
                                      {{"step-overhead", "2e-3"}},
                                      {{"step-overhead", "2e-3"}, {"bucket-bytes", "0"}}}};
  for (const auto& [name, options, run] : planted) {
    Options scenario = small_cluster;
    for (const auto& [option, value] : options)
      scenario[option] = value;
    const Json found = causes_found(scenario, seconds_planted(small_cluster, run));
    const auto is_it = [&, &one = name](const Json& cause) { return cause.at("name") == one; };
    EXPECT_TRUE(is_it(found.at(0)) || is_it(found.at(1))) << name << found.dump(1);
    EXPECT_EQ(std::ranges::find_if(found, is_it)->at("likelihood"), "fits");
  }
}

// 25 Gbit/s of a card of 400 are what NCCL carries over sockets.
TEST(ExplainMeasured, NamesSocketsInsteadOfRdma) {
  const Options wide{{"platform", "dgx:nodes=4:cards=8x400Gbps:ib"},
                     {"model", "gpt2"},
                     {"batch", "8"},
                     {"throughput", "200"}};
  const double slow_s = seconds_planted(wide, {{"platform", "dgx:nodes=4:cards=8x25Gbps:ib"}});
  const Json found = causes_found(wide, slow_s);
  for (const Json& cause : found)
    if (cause.at("name") == "cards") {
      EXPECT_EQ(cause.at("likelihood"), "usual");
      expect_mentions(cause.at("sentence"), {"6.2 % of their rate", "sockets"});
    }
}

TEST(ExplainMeasured, SaysWhereThereIsNothingToExplain) {
  const double own_s = seconds_planted(odd_cluster, {});
  for (const auto& [times, words] : std::map<double, std::string>{
           {0.8, "faster than the scenario allows"}, {1.01, "none to explain"}}) {
    const Ended ended = run_program(
        explaining(odd_cluster, {{"measured", Json(1e3 * own_s * times).dump() + "ms"}}));
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_mentions(ended.out, {"measured ", "scenario ", words});
  }
}

TEST(ExplainMeasured, OfBadInputIsOneLineWithExitCodeTwo) {
  const std::vector<std::pair<Options, std::vector<std::string>>> all{
      {{{"measured", "fast"}}, {"--measured = fast", "153ms"}},
      {{{"measured", "0"}}, {"--measured = 0", "allowed"}},
      {{{"measured", "-3s"}}, {"--measured = -3s"}},
      {{{"measured", "nan"}}, {"--measured = nan"}},
      {{{"measured", "100"}, {"workers", "4,8"}}, {"2 cells", "allowed is one"}},
      {{{"measured", "100"}, {"schedule", "asp"}}, {"schedule asp", "such as bsp"}}};
  for (const auto& [others, mentions] : all) {
    const Ended ended = run_program(explaining(odd_cluster, others));
    EXPECT_EQ(ended.code, 2) << ended.out;
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
    expect_mentions(ended.err, mentions);
  }
}

}  // namespace
}  // namespace syncline

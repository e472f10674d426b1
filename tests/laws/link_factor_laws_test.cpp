// A factor for links whose names match a pattern changes these links and nothing else.
#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/laws/simulated.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

constexpr double gradient_bytes = 100e6;

Options of_cluster(const std::string& words, const Options& more = {}) {
  Options options{{"platform", words},     {"model", model_of({25'000'000})},
                  {"bucket-bytes", "all"}, {"overlap", "off"},
                  {"fidelity", "step"},    {"iterations", "1"},
                  {"warmup", "0"}};
  for (const auto& [key, value] : more)
    options[key] = value;
  return options;
}

double seconds(const std::string& words, const Options& more = {}) {
  return simulated(of_cluster(words, more)).trace.end_s;
}

const std::string pair = "dgx:nodes=2:gpus=1:cards=1x200Gbps";
const std::string one_node = "dgx:nodes=1:gpus=2:cards=1x200Gbps";

TEST(LinkFactor, IsOfTheLinksThatItNames) {
  const double latency_s = 14e-6;
  const auto ring_s = [&](double times) {
    return 0.1 + 2 * (latency_s + gradient_bytes / 2 / (25e9 * times));
  };
  EXPECT_NEAR(seconds(pair, {{"bandwidth-factor", "*-nic*:0.5"}}), ring_s(0.5), 1e-9);
  EXPECT_NEAR(seconds(pair, {{"bandwidth-factor", "node1-nic:0.25"}}), ring_s(0.25), 1e-9);
  EXPECT_NEAR(seconds(pair, {{"bandwidth-factor", "100000"}}), ring_s(1e5), 1e-9);
  // Only one direction is slow: its second part follows the first without a latency.
  EXPECT_NEAR(seconds(pair, {{"bandwidth-factor", "node0-nic_UP:0.25"}}), ring_s(0.25) - latency_s,
              1e-9);
  EXPECT_NEAR(seconds(pair, {{"bandwidth-factor", "*-nvlink:0.5"}, {"platform", one_node}}),
              0.1 + 2 * (3.4e-6 + gradient_bytes / 2 / 225e9), 1e-9);
  EXPECT_NEAR(seconds(one_node, {{"bandwidth-factor", "*-nic*:0.001"}}), seconds(one_node), 1e-12);
}

TEST(LinkFactor, CountsBesidesAPlainOneAndOthers) {
  const auto at = [&](const std::string& factor) {
    return seconds(pair, {{"bandwidth-factor", factor}});
  };
  EXPECT_NEAR(at("2;*-nic*:0.5"), at("1"), 1e-9);
  EXPECT_NEAR(at("*-nic*:0.5;node*:0.5"), at("*-nic*:0.25"), 1e-9);
  // LV08 multiplies bandwidths by 0.97 and latencies by 13.01; a pattern does not replace these
  // factors.
  const Options lv08{{"network", "lv08"}};
  Options half = lv08;
  half["bandwidth-factor"] = "*-nic*:0.5";
  EXPECT_NEAR(seconds(pair, half), seconds("dgx:nodes=2:gpus=1:cards=1x100Gbps", lv08), 1e-6);
}

TEST(LinkFactor, OfLatenciesIsOfTheLinksThatItNames) {
  const auto at = [&](const std::string& factor) {
    return seconds(pair, {{"latency-factor", factor}});
  };
  // Half of the latency of the way is at each card; the slots have none.
  EXPECT_NEAR(at("*-nic:101") - at("1"), 2 * 100 * 14e-6, 1e-9);
  EXPECT_NEAR(at("node0-nic:101") - at("1"), 2 * 50 * 14e-6, 1e-9);
  EXPECT_NEAR(at("*-pcie:101"), at("1"), 1e-12);
  EXPECT_NEAR(at("2;*-nic:3"), at("6"), 1e-9);
}

TEST(LinkFactor, IsWhatAPlatformOfOtherRatesTakes) {
  const Options more{{"exchange", "hierarchical"}};
  Options half = more;
  half["bandwidth-factor"] = "*-nic*:0.5";
  const std::string words = "dgx:nodes=3:gpus=4:cards=2x";
  EXPECT_NEAR(seconds(words + "200Gbps", half), seconds(words + "100Gbps", more), 1e-12);
}

// The search looks at exchanges of 10^7 s and more, where once it did not end: beside such times a
// short flow's seconds round to nothing.
TEST(LinkFactor, MovesBreakEvenOfItsLinksAlone) {
  const auto options = [&](const std::string& factor, const std::string& compressor = "topk") {
    Options all = of_cluster("pcie:nodes=2:gpus=2",
                             {{"device", cost_table(3e-9, 1e-10)}, {"bandwidth-factor", factor}});
    if (compressor == "topk")
      all.insert({{"compressor", "topk"}, {"density", "0.01"}, {"exchange", "allgather"}});
    return all;
  };
  const auto limit = [&](const std::string& factor) {
    const Predicted closed = predicted(options(factor));
    EXPECT_TRUE(closed.even_known);
    EXPECT_EQ(closed.with_overlap.size(), 1U);
    return closed.with_overlap.empty() ? 0 : closed.with_overlap.front().to;
  };
  EXPECT_NEAR(limit("*:1") / limit("1"), 1, 0.01);  // this matches all links
  const double cards = limit("*-nic:1");
  EXPECT_GT(cards, 1);
  EXPECT_LT(cards, 1e3);
  for (const double beside : {0.95, 1.05}) {
    const std::string there = fmt::format("*-nic:{}", cards * beside);
    const double compressed_s = simulated(options(there)).trace.end_s;
    const double dense_s = simulated(options(there, "none")).trace.end_s;
    EXPECT_EQ(compressed_s < dense_s, beside < 1) << compressed_s << " and " << dense_s;
  }
}

}  // namespace
}  // namespace syncline

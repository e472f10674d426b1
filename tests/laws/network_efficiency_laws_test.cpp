// Law 40: with network-efficiency = e the network cards carry e of their rate: a ring over cards
// takes 1 / e of its bytes' time, and latencies, NVLink, slots and switches stay as they are.
#include <gtest/gtest.h>

#include "sim/platform/platform_text.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

constexpr double averaged_bytes = 100e6;
constexpr double network_s = 14e-6;  // of the family dgx

Options of_cluster(const std::string& words, const std::string& efficiency,
                   const Options& more = {}) {
  Options options{{"platform", words},     {"model", model_of({25'000'000})},
                  {"bucket-bytes", "all"}, {"overlap", "off"},
                  {"fidelity", "step"},    {"iterations", "1"},
                  {"warmup", "0"},         {"network-efficiency", efficiency}};
  for (const auto& [key, value] : more)
    options[key] = value;
  return options;
}

// Seconds of averaging, without the 0.1 s of computation.
double exchange_s(const std::string& words, const std::string& efficiency,
                  const Options& more = {}) {
  return simulated(of_cluster(words, efficiency, more)).iteration_s() - 0.1;
}

double ring_s(int workers, double bandwidth_Bps) {
  return 2 * (workers - 1) * (network_s + averaged_bytes / workers / bandwidth_Bps);
}

TEST(NetworkEfficiency, DividesTheTimeOfBytesOverCardsAndLeavesLatency) {
  for (const int nodes : {2, 3, 5})
    for (const double part : {1.0, 0.8, 0.25}) {
      const std::string words = "dgx:gpus=1:cards=1x200Gbps:nodes=" + std::to_string(nodes);
      const std::string said = std::to_string(part);
      EXPECT_NEAR(exchange_s(words, said), ring_s(nodes, 25e9 * part), precise);
      EXPECT_NEAR(predicted(of_cluster(words, said)).exchange_s, ring_s(nodes, 25e9 * part),
                  precise);
      for (const std::string fidelity : {"flow", "analytic"})
        EXPECT_NEAR(exchange_s(words, said, {{"fidelity", fidelity}}) / ring_s(nodes, 25e9 * part),
                    1, 0.03)
            << fidelity;
    }
}

TEST(NetworkEfficiency, IsThatOfCardsOfALowerRate) {
  for (const std::string exchange : {"ring", "hierarchical", "tree", "ps"})
    for (const std::string fidelity : {"step", "flow", "analytic"}) {
      const Options more{{"exchange", exchange}, {"fidelity", fidelity}};
      for (const std::string words : {"dgx:nodes=3:gpus=4:cards=2x", "dgx:nodes=2:gpus=6:cards=1x"})
        EXPECT_NEAR(exchange_s(words + "200Gbps", "0.5", more),
                    exchange_s(words + "100Gbps", "", more), precise)
            << words << exchange << fidelity;
    }
}

TEST(NetworkEfficiency, IsNotOfNvlinkSlotsAndSwitches) {
  for (const std::string words : {"dgx:nodes=1", "pcie:nodes=1"})
    EXPECT_EQ(exchange_s(words, "0.5"), exchange_s(words, "")) << words;
  // Four nodes of 25 GB/s share a way up of 12.5 GB/s, which the first of three halvings and the
  // last of three doublings cross.
  const double crossing_s = 2 * (averaged_bytes / 2) / (12.5e9 / 4);
  const double below_s = 2 * (averaged_bytes / 4 + averaged_bytes / 8) / (25e9 * 0.8);
  EXPECT_NEAR(exchange_s("dgx:nodes=8:gpus=1:cards=1x200Gbps:leaf=4:oversubscription=8", "0.8",
                         {{"exchange", "halving-doubling"}}),
              6 * network_s + crossing_s + below_s, precise);
}

TEST(NetworkEfficiency, CountsBesideFactors) {
  const std::string words = "dgx:nodes=2:gpus=1:cards=1x200Gbps";
  for (const std::string factor : {"0.5", "*-nic*:0.5"})
    EXPECT_NEAR(exchange_s(words, "0.8", {{"bandwidth-factor", factor}}), ring_s(2, 25e9 * 0.4),
                precise);
}

// Links with the property kind are the cards that the words name.
TEST(NetworkEfficiency, IsTheSameInTheFileOfAPlatformInWords) {
  for (const std::string words :
       {"dgx:nodes=2:gpus=4:cards=2x200Gbps:ib", "cloud:nodes=3:gpus=2:cards=1x25Gbps:tcp",
        "dgx:nodes=1+2:gpus=4:cards=4x400Gbps+2x200Gbps"}) {
    const std::string file = written_platform(platform_text(platform_plan(words)));
    for (const std::string schedule : {"bsp", "asp"}) {
      const Options more{{"schedule", schedule}};
      EXPECT_EQ(exchange_s(words, "0.7", more), exchange_s(file, "0.7", more)) << words << schedule;
    }
  }
}

}  // namespace
}  // namespace syncline

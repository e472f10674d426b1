// Law 38 for whole clusters (tests/laws/README.md): `fidelity = analytic` gives the seconds of the
// flows, also for nodes with several GPUs and cards, levels of switches, and sites.
#include <cstdlib>
#include <gtest/gtest.h>

#include "sim/platform/platform_file.h"
#include "tests/laws/simulated.h"
#include "tests/reference/draw.h"

namespace syncline {
namespace {

// At most `most` workers.
Options drawn_cluster(int seed, int most) {
  reference::Draw draw(static_cast<std::uint64_t>(seed) + 38'000);
  const std::string family = draw.one_of<std::string>({"dgx", "dgx-a100", "cloud", "pcie"});
  const int gpus = draw.one_of<int>({1, 2, 3, 4, 8});
  const int cards = draw.one_of<int>({1, 1, 2, gpus});
  constexpr int most_nodes = 1000;  // the most in words with SimGrid
  const auto nodes = static_cast<int>(draw.between(2, std::min(most / gpus, most_nodes) + 1));
  std::string words = family + ":nodes=" + std::to_string(nodes) + ":gpus=" + std::to_string(gpus) +
                      ":cards=" + std::to_string(std::min(cards, gpus)) + "x" +
                      draw.one_of<std::string>({"10Gbps", "25Gbps", "100Gbps", "400Gbps"});
  if (draw.between(0, 1) < 0.3)
    words += ":rails=on:leaf=" + draw.one_of<std::string>({"2", "3", "16"}) +
             ":oversubscription=" + draw.one_of<std::string>({"1", "2"});
  if (nodes >= 4 && draw.between(0, 1) < 0.3)  // latencies that differ by a factor of a thousand
    words += ":sites=" + draw.one_of<std::string>({"2", "3"}) + ":distance=5ms:line=100Gbps";
  return {{"platform", words},
          {"model", draw.one_of<std::string>({"resnet50", "vgg16", "bert-large"})},
          {"throughput", draw.one_of<std::string>({"20", "100", "400"})},
          {"exchange", draw.one_of<std::string>({"ring", "hierarchical", "tree", "nccl"})},
          {"bucket-bytes", draw.one_of<std::string>({"25MiB", "4MiB", "all"})},
          {"overlap", draw.one_of<std::string>({"on", "on", "off"})},
          {"jitter", draw.one_of<std::string>({"0", "0.05"})},
          {"device", ""},
          {"fidelity", "flow"},
          {"warmup", "1"},
          {"iterations", "2"},
          {"seed", std::to_string(seed)}};
}

std::string text_of(const Options& options) {
  std::string text;
  for (const auto& [name, value] : options)
    text += name + "=" + value + " ";
  return text;
}

// SYNCLINE_CELLS=40 draws clusters of up to 4,096 workers.
TEST(Law38, ClustersTakeByArithmeticWhatTheirFlowsTake) {
  const char* given = std::getenv("SYNCLINE_CELLS");
  const int count = given != nullptr ? std::atoi(given) : 12;
  for (int seed = 0; seed < count; ++seed) {
    const int most = seed % 10 != 9 ? 64 : given == nullptr ? 512 : 4096;
    Options options = drawn_cluster(seed, most);
    const double flow_s = simulated(options).iteration_s();
    options["fidelity"] = "analytic";
    const double analytic_s = simulated(options).iteration_s();
    EXPECT_NEAR(analytic_s, flow_s, 0.02 * flow_s) << seed << ": " << text_of(options);
  }
}

// Messages of so many workers, of whom nodes have several, are not followed one by one.
TEST(Law38, TreesOfManyWorkersTakeByArithmeticWhatTheirFlowsTake) {
  for (const char* words : {"dgx:nodes=33:cards=8x400Gbps", "cloud:nodes=300:gpus=1:cards=1x25Gbps",
                            "pcie:nodes=90:gpus=3:cards=1x10Gbps", "cloud:nodes=70:gpus=4"})
    for (const auto& [exchange, bucket_bytes] :
         {std::pair("tree", "64KiB"), std::pair("tree", "all"), std::pair("nccl", "all")}) {
      Options options{{"platform", words},
                      {"model", "resnet20"},
                      {"throughput", "1e6"},
                      {"exchange", exchange},
                      {"bucket-bytes", bucket_bytes},
                      {"overlap", "off"},
                      {"fidelity", "flow"},
                      {"warmup", "1"},
                      {"iterations", "2"}};
      const double flow_s = simulated(options).iteration_s();
      options["fidelity"] = "analytic";
      EXPECT_NEAR(simulated(options).iteration_s() / flow_s, 1, 0.03)
          << words << ", " << exchange << ", " << bucket_bytes;
    }
}

// Collectives of shards in a node, and averages in a node, go through the slots that collectives
// between nodes need, too. Once, `analytic` and `explain` let both move at full rate, in up to 34 %
// less than steps take and in less than the lower bound.
TEST(Law38, CollectivesInNodesShareSlotsWithThoseBetweenNodes) {
  constexpr int count = 48;
  int far = 0;
  for (int seed = 0; seed < count; ++seed) {
    reference::Draw draw(static_cast<std::uint64_t>(seed) + 3'800);
    const auto one_of = [&](const std::vector<std::string>& words) { return draw.one_of(words); };
    Options options{
        {"platform", "pcie:nodes=" + one_of({"2", "3", "4"}) + ":gpus=" + one_of({"2", "3", "4"}) +
                         ":cards=1x" + one_of({"25Gbps", "100Gbps", "400Gbps"})},
        {"model", model_of({2'000'000, 5'000'000, 300'000, 8'000'000})},
        {"throughput", one_of({"300", "1000", "5000"})},
        {"iterations", "12"},
        {"warmup", "12"}};
    if (draw.sometimes()) {
      options["schedule"] = "fsdp";
      options["shard"] = "node";
      options["zero"] = one_of({"1", "2", "3"});
      options["units"] = one_of({"2", "4"});
      options["prefetch"] = one_of({"0", "1", "2"});
      options["backward-prefetch"] = one_of({"pre", "post", "none"});
      options["accumulation"] = one_of({"1", "3"});
    } else {
      options["schedule"] = "local-sgd";
      options["replica"] = "node";
      options["local-steps"] = one_of({"2", "4"});
      options["average-delay"] = one_of({"0", "1"});
    }
    options["fidelity"] = "step";
    const double step_s = simulated(options).iteration_s();
    options["fidelity"] = "analytic";
    const Simulated analytic = simulated(options);
    EXPECT_NEAR(analytic.iteration_s() / step_s, 1, 0.06) << text_of(options);
    EXPECT_FALSE(analytic.below_its_bound()) << text_of(options);
    const Predicted explained = predicted(options);
    EXPECT_NEAR(explained.iteration_s / step_s, 1, 0.06) << text_of(options);
    EXPECT_GE(explained.iteration_s, explained.bound_s * (1 - 1e-9)) << text_of(options);
    far += std::abs(analytic.iteration_s() / step_s - 1) > 0.02 ? 1 : 0;
  }
  EXPECT_LE(far, count / 8);
}

}  // namespace
}  // namespace syncline

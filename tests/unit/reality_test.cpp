// What `reality` gives to options that the user leaves out (platforms/networks.csv), and what a
// platform says of its network.
#include "sim/catalogue/reality.h"

#include <gtest/gtest.h>
#include <map>
#include <string>

#include "kernels/io/text.h"
#include "sim/platform/platform_file.h"
#include "sim/platform/platform_text.h"
#include "tests/unit/errors.h"
#include "tests/unit/folder.h"
#include "tests/unit/given.h"

namespace syncline {
namespace {

Scenario typical(std::map<std::string, std::string> options) {
  options.emplace("reality", "typical");
  return resolve(given(options));
}

std::string written(const Scenario& scenario, const std::string& option) {
  const auto found = scenario.written.find(option);
  return found == scenario.written.end() ? "" : found->second;
}

TEST(Reality, TakesWhatIsKnownOfTheNetworkAndTheFramework) {
  const Scenario both =
      typical({{"platform", "dgx:cards=8x400Gbps:ib"}, {"framework", "pytorch-ddp-1.10"}});
  EXPECT_EQ(both.network_efficiency, 0.96);
  EXPECT_EQ(both.overlap_slowdown, 0.189);
  EXPECT_EQ(both.optimizer_overhead_s, 1.9e-5);
  EXPECT_EQ(both.straggling, 0.033);
  EXPECT_EQ(written(both, "network-efficiency"), "0.96");
  expect_mentions(both.reality.described(),
                  {"typical: network-efficiency = 0.96 (ib, 0.92 to 0.98: NVIDIA/nccl-tests",
                   "; overlap-slowdown = 0.189 (pytorch-ddp, 0 to 0.4: Lee et al. 2025",
                   "; optimizer-overhead = 1.9e-5 (pytorch-ddp, "});
  const Scenario network = typical({{"platform", "dgx:cards=8x400Gbps:roce"}});
  EXPECT_EQ(network.overlap_slowdown, 0);
  expect_mentions(network.reality.described(), {"no framework is named"});
  const Scenario software = typical({{"framework", "horovod"}});
  EXPECT_EQ(software.network_efficiency, 1);
  EXPECT_EQ(software.overlap_slowdown, 0.189);
  expect_mentions(software.reality.described(), {"no kind of network is named"});
}

TEST(Reality, LetsOptionsGivenByHandWin) {
  const Scenario mine = typical({{"platform", "dgx:cards=8x400Gbps:ib"},
                                 {"framework", "horovod"},
                                 {"network-efficiency", "0.7"},
                                 {"overlap-slowdown", "0"},
                                 {"jitter", "0.1"}});
  EXPECT_EQ(mine.network_efficiency, 0.7);
  EXPECT_EQ(mine.straggling, 0);
  EXPECT_EQ(mine.overlap_slowdown, 0);
  expect_mentions(mine.reality.described(), {"typical: nothing was left to take"});
  // Messages to servers are no collectives on the device.
  EXPECT_EQ(typical({{"framework", "horovod"}, {"schedule", "asp"}}).overlap_slowdown, 0);
  // Its workers do not wait for the slowest.
  EXPECT_EQ(typical({{"framework", "horovod"}, {"schedule", "asp"}}).straggling, 0);
  const Scenario drifting = typical({{"framework", "horovod"}, {"schedule", "ssp"}});
  EXPECT_EQ(written(drifting, "straggling"), "0");
  expect_mentions(drifting.reality.described(), {"workers do not all wait for each other"});
  EXPECT_EQ(typical({{"framework", "horovod"}, {"jitter", "0"}}).straggling, 0.033);
}

TEST(Reality, NominalIsNoOption) {
  const Scenario nominal = typical({{"reality", "nominal"}, {"framework", "pytorch-ddp"}});
  std::map<std::string, std::string> without =
      resolve(given({{"framework", "pytorch-ddp"}})).written;
  without["reality"] = "nominal";
  EXPECT_EQ(nominal.written, without);
  EXPECT_EQ(nominal.reality.described(), "");
}

// TCP's share of a frame below 32 / 0.94 = 34 Gbit/s, and 32 Gbit/s of a card above.
TEST(Reality, OfSocketsDependsOnTheRateOfACard) {
  const auto part = [](const std::string& cards) {
    return typical({{"platform", "cloud:gpus=2:cards=" + cards + ":tcp"}}).network_efficiency;
  };
  EXPECT_EQ(part("1x10Gbps"), 0.94);
  EXPECT_EQ(part("1x34Gbps"), 0.94);
  EXPECT_EQ(part("1x40Gbps"), 0.8);
  EXPECT_EQ(part("1x100Gbps"), 0.32);
  EXPECT_EQ(part("2x100Gbps"), 0.32);
  const auto of_two = [&](const std::string& cards) {
    return typical({{"platform", "cloud:nodes=1+1:gpus=2:cards=" + cards + ":tcp"}});
  };
  EXPECT_EQ(of_two("1x10Gbps+1x25Gbps").network_efficiency, 0.94);
  expect_mentions(error_of([&] { of_two("1x10Gbps+1x100Gbps"); }),
                  {"--reality", "different rates", "0.32 and 0.94", "network-efficiency"});
}

TEST(Reality, IsRefusedWhereNothingIsNamed) {
  expect_mentions(error_of([] {
                    typical({{"platform", "dgx"}});
                  }),
                  {"--reality", "neither a framework nor a kind of network", "pytorch-ddp",
                   "ib, roce, efa, efa-v1 or tcp", "cards=8x400Gbps:ib"});
  expect_mentions(error_of([] {
                    typical({{"reality", "typcial"}});
                  }),
                  {"--reality", "typcial", "no such file", "nominal, typical"});
  for (const char* part : {"0", "1.1", "-1", "nan", "x"})
    expect_mentions(error_of([&] {
                      resolve(given({{"network-efficiency", part}}));
                    }),
                    {"--network-efficiency", part, "0.001 to 1"});
}

// A network's plugin tells NCCL a latency; only exchange = nccl knows it.
TEST(Reality, TellsNcclTheLatencyOfEfa) {
  const std::pair<std::string, std::string> efa{"platform", "dgx:cards=8x400Gbps:efa"};
  EXPECT_EQ(typical({efa, {"exchange", "nccl"}}).nccl_net_latency_s, 35e-6);
  EXPECT_EQ(typical({efa, {"framework", "pytorch-ddp"}}).nccl_net_latency_s, 35e-6);
  const Scenario by_ring = typical({efa, {"exchange", "ring"}});
  EXPECT_EQ(by_ring.nccl_net_latency_s, 0);
  EXPECT_EQ(by_ring.reality.described().find("nccl-net-latency"), std::string::npos);
  EXPECT_EQ(by_ring.network_efficiency, 0.96);
  const Scenario mine = typical({efa, {"exchange", "nccl"}, {"network-efficiency", "0.5"}});
  EXPECT_EQ(mine.nccl_net_latency_s, 35e-6);
  EXPECT_EQ(mine.network_efficiency, 0.5);
  expect_mentions(mine.reality.described(), {"nccl-net-latency = 3.5e-5 (efa, 2e-5 to 7.5e-5: "});
  EXPECT_EQ(typical({efa, {"exchange", "nccl"}, {"nccl-net-latency", "2e-5"}}).nccl_net_latency_s,
            20e-6);
  expect_mentions(error_of([] {
                    resolve(given({{"exchange", "ring"}, {"nccl-net-latency", "2e-5"}}));
                  }),
                  {"--nccl-net-latency", "exchange = ring", "allowed is exchange = nccl"});
}

TEST(Reality, IsAlsoAnEditedCopy) {
  const TemporaryFolder folder;
  const auto with = [&](const std::string& row) {
    folder.write("mine.csv", "kind,quantity,low,middle,high,source\n" + row + "\n");
    return typical({{"platform", "dgx:cards=8x400Gbps:ib"},
                    {"framework", "horovod"},
                    {"reality", folder.path("mine.csv")}});
  };
  const std::string ib = "ib,network-efficiency,0.4,0.5,0.6,mine\n";
  EXPECT_EQ(with(ib + "horovod,step-overhead,0,2e-6,1e-5,mine").network_efficiency, 0.5);
  EXPECT_EQ(with(ib + "horovod,step-overhead,0,2e-6,1e-5,mine").step_overhead_s, 2e-6);
  const std::string unprintable =
      folder.write("\x01.csv", "kind,quantity,low,middle,high,source\n" + ib);
  EXPECT_EQ(typical({{"platform", "dgx:cards=8x400Gbps:ib"},
                     {"framework", "horovod"},
                     {"reality", unprintable}})
                .written.at("reality"),
            printable(unprintable));
  expect_mentions(with(ib + "pytorch-ddp,step-overhead,0,2e-6,1e-5,mine").reality.described(),
                  {"nothing is known there of step-overhead of horovod"});
  expect_mentions(typical({{"framework", "horovod"}, {"platform", "dgx:cards=8x400Gbps:ib"}})
                      .reality.described(),
                  {"nothing is known there of optimizer-overhead of horovod"});
  const std::vector<std::pair<std::string, std::vector<std::string>>> bad{
      {"ib,network-efficiency,0.6,0.5,0.7,mine", {"mine.csv:2", "middle = 0.5", "low <= middle"}},
      {"ib,network-efficiency,0.4,0.5,1.2,mine", {"mine.csv:2", "1.2", "up to 1"}},
      {"ib,network-efficiency,0,0,1,mine", {"mine.csv:2", "above 0"}},
      {"ib,network-efficiency,0.4,,0.6,mine", {"mine.csv:2", "middle = ", "numbers from 0"}},
      {"ib,network-efficiency,0.4,0.5,0.6,", {"mine.csv:2", "source"}},
      {ib + ib.substr(0, ib.size() - 1), {"mine.csv:3", "twice"}},
      {ib + "ib,jitter,0,0.1,1,mine", {"mine.csv:3", "jitter", "most-Gbps"}},
      {ib + "ib,most-Gbps,0,0,1,mine", {"mine.csv:3", "more than 0"}},
      {ib + "pytroch-ddp,jitter,0,0.1,1,mine", {"mine.csv:3", "pytroch-ddp", "no such framework"}},
      {ib + "horovod-0.21,jitter,0,0.1,1,mine", {"mine.csv:3", "without a version"}},
      {ib + "horovod,jiter,0,0.1,1,mine", {"--reality", "unknown option 'jiter'"}},
      {ib + "horovod,jitter,0,0.1,1,mine\nhorovod,warmup,0,0.5,1,mine", {"--reality", "warmup"}},
      {"tcp,network-efficiency,0.4,0.5,0.6,mine", {"--reality", "network = ib", "has no"}},
  };
  for (const auto& [row, mentions] : bad)
    expect_mentions(error_of([&, text = row] { with(text); }), mentions);
}

// Fast cards count as RDMA, unless the words say that they do not.
TEST(NetworkCards, OfSocketsKeepTheirLatency) {
  const auto latency_s = [](const std::string& cards) {
    return platform_plan("cloud:cards=" + cards).network_s;
  };
  EXPECT_DOUBLE_EQ(latency_s("1x100Gbps"), 14e-6);
  EXPECT_DOUBLE_EQ(latency_s("1x100Gbps:roce"), 14e-6);
  EXPECT_DOUBLE_EQ(latency_s("1x100Gbps:tcp"), 30e-6);
}

TEST(NetworkCards, AreReadFromWordsAndFromTheirFile) {
  const TemporaryFolder folder;
  for (const std::string words :
       {"dgx:nodes=2:cards=8x400Gbps:ib", "dgx:nodes=1+1:cards=8x400Gbps+4x200Gbps:roce:gpus=8"}) {
    folder.write("p.xml", platform_text(platform_plan(words)));
    for (const std::string& platform : {words, folder.path("p.xml")})
      for (const bool for_simgrid : {true, false}) {
        const PlatformFile file = read_platform(platform, for_simgrid);
        EXPECT_EQ(file.refusal, "");
        EXPECT_EQ(file.cards.kind, words.ends_with("ib") ? "ib" : "roce");
        EXPECT_EQ(file.cards.rates_Bps,
                  words.ends_with("ib") ? std::vector{50e9} : (std::vector{50e9, 25e9}));
      }
    expect_mentions(platform_text(platform_plan(words)),
                    {"  cards = 8x400Gbps", "network\" value"});
  }
  expect_mentions(platform_text(platform_plan("dgx:cards=4x200Gbps:efa")),
                  {"cards = 4x200Gbps:efa: ", "<prop id=\"network\" value=\"efa\"/>"});
  EXPECT_EQ(platform_text(platform_plan("dgx")).find("id=\"network\""), std::string::npos);
}

}  // namespace
}  // namespace syncline

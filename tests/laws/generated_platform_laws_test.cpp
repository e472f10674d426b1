// Seconds on platforms in words, computed from the words.
#include <cmath>
#include <gtest/gtest.h>
#include <tuple>

#include "sim/platform/platform.h"
#include "sim/platform/platform_file.h"
#include "sim/platform/platform_text.h"
#include "sim/platform/platform_words.h"
#include "sim/sweep/process.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

constexpr double bytes = 100e6;
constexpr double network_s = 14e-6;  // of the family dgx
constexpr double inside_s = 3.4e-6;

Options in_words(const std::string& words, const Options& more = {}) {
  Options options{{"platform", words},     {"model", model_of({25'000'000})},
                  {"bucket-bytes", "all"}, {"overlap", "off"},
                  {"fidelity", "step"},    {"iterations", "2"}};
  for (const auto& [key, value] : more)
    options[key] = value;
  return options;
}

// Seconds of averaging, without the 0.1 s of computation.
double exchange_s(const std::string& words, const Options& more = {}) {
  return simulated(in_words(words, more)).iteration_s() - 0.1;
}

double ring_s(int workers, double latency_s, double bandwidth_Bps) {
  return 2 * (workers - 1) * (latency_s + bytes / workers / bandwidth_Bps);
}

TEST(GeneratedPlatform, TakesLatencyAndBytesOverTheRateThatItSays) {
  EXPECT_NEAR(exchange_s("dgx:nodes=2:gpus=1:cards=1x100Gbps"), ring_s(2, network_s, 12.5e9), 1e-9);
  EXPECT_NEAR(exchange_s("dgx:nodes=2:gpus=1:cards=1x25GBps:latency=1ms"), ring_s(2, 1e-3, 25e9),
              1e-9);
  EXPECT_NEAR(exchange_s("dgx:nodes=1:gpus=2:cards=1x1Gbps"), ring_s(2, inside_s, 450e9), 1e-9);
  EXPECT_NEAR(exchange_s("dgx:nodes=1:gpus=2:cards=1x1Gbps:nvlink=none:inside-latency=5us"),
              ring_s(2, 5e-6, 63e9), 1e-9);
  EXPECT_NEAR(exchange_s("pcie:nodes=2:gpus=1:cards=1x10Gbps"), ring_s(2, 30e-6, 1.25e9), 1e-9);
  // The slot is narrower than this card, which counts as RDMA.
  EXPECT_NEAR(exchange_s("pcie:nodes=2:gpus=1:cards=1x100Gbps"), ring_s(2, network_s, 6e9), 1e-9);
  EXPECT_NEAR(exchange_s("pcie:nodes=2:gpus=1:cards=1x800Gbps:device=h100"),
              ring_s(2, network_s, 63e9), 1e-9);
}

// With different cards on different nodes, the ring runs at the pace of the narrowest.
TEST(GeneratedPlatform, HasNodesThatDifferInTheirCards) {
  EXPECT_NEAR(exchange_s("dgx:nodes=1+2:gpus=1:cards=1x400Gbps+1x100Gbps"),
              ring_s(3, network_s, 12.5e9), 1e-9);
  const auto loads = predicted(in_words("dgx:nodes=1+1:gpus=4:cards=4x400Gbps+2x200Gbps",
                                        {{"exchange", "alltoall"}}))
                         .link_bytes;
  const double part = bytes / 8;
  EXPECT_NEAR(loads.at("node0-nic0_UP"), 4 * part, 100);
  EXPECT_NEAR(loads.at("node1-nic0_UP"), 2 * 4 * part, 100);
  EXPECT_FALSE(loads.contains("node1-nic2_UP"));
}

TEST(GeneratedPlatform, AveragesByARingOverOneCardPerNode) {
  EXPECT_NEAR(exchange_s("dgx:nodes=4:gpus=1:cards=1x200Gbps"), ring_s(4, network_s, 25e9), 1e-9);
  // Every step waits for the way between nodes; latencies add up along the ring (DESIGN, section
  // 5).
  const double slowest_s = bytes / 8 / 25e9;
  const double found_s = exchange_s("dgx:nodes=2:gpus=4:cards=1x200Gbps");
  EXPECT_GT(found_s, 14 * slowest_s);
  EXPECT_LT(found_s, 14 * (slowest_s + network_s));
}

TEST(GeneratedPlatform, LeavesByTheCardsOfItsGpus) {
  const auto loads = [](const std::string& words) {
    return predicted(in_words(words, {{"exchange", "alltoall"}})).link_bytes;
  };
  // A GPU sends 1/n of the gradient to each other GPU; then the sums, (n - 1)/n of it, go round a
  // ring, which leaves a node at its last GPU.
  auto two = loads("dgx:nodes=2:gpus=4:cards=2x200Gbps");
  double part = bytes / 8;
  EXPECT_NEAR(two.at("node0-nic0_UP"), 2 * 4 * part, 100);
  EXPECT_NEAR(two.at("node0-nic1_UP"), (2 * 4 + 7) * part, 100);
  EXPECT_NEAR(two.at("node1-nic0_DOWN"), (2 * 4 + 7) * part, 100);
  EXPECT_NEAR(two.at("node1-nic1_DOWN"), 2 * 4 * part, 100);
  EXPECT_NEAR(two.at("node0-nics_UP"), (4 * 4 + 7) * part, 100);
  EXPECT_NEAR(two.at("node0-gpu0-nvlink_UP"), (3 + 7) * part, 100);
  EXPECT_NEAR(two.at("node0-gpu0-pcie_UP"), 4 * part, 100);
  // GPU g uses card g x cards / gpus: three, three and two GPUs per card.
  auto uneven = loads("dgx:nodes=2:gpus=8:cards=3x200Gbps");
  part = bytes / 16;
  EXPECT_NEAR(uneven.at("node0-nic0_UP"), 3 * 8 * part, 100);
  EXPECT_NEAR(uneven.at("node0-nic1_UP"), 3 * 8 * part, 100);
  EXPECT_NEAR(uneven.at("node0-nic2_UP"), (2 * 8 + 15) * part, 100);
  for (const auto& [link, carried] : loads("dgx:nodes=1:gpus=8:cards=8x200Gbps"))
    EXPECT_NE(link.find("-nvlink_"), std::string::npos) << link << " carries " << carried;
}

TEST(GeneratedPlatform, HasOversubscribedWaysUp) {
  // With four machines under each of two leaf switches, the first of three halvings and the last of
  // three doublings cross the spine.
  const auto time_s = [](const std::string& words) {
    return exchange_s("dgx:nodes=8:gpus=1:cards=1x200Gbps:leaf=4" + words,
                      {{"exchange", "halving-doubling"}});
  };
  const double plain_s = 6 * network_s + 2 * (bytes / 2 + bytes / 4 + bytes / 8) / 25e9;
  const double crossing_s = 2 * (bytes / 2) / 25e9;
  EXPECT_NEAR(time_s(""), plain_s, 1e-9);
  EXPECT_NEAR(time_s(":oversubscription=2"), plain_s + crossing_s, 1e-9);
  EXPECT_NEAR(time_s(":oversubscription=4:rails=off"), plain_s + 3 * crossing_s, 1e-9);
  // With rails, a leaf switch has card i of four nodes; with one network it has both cards of two
  // nodes.
  const auto up = [](const std::string& rails) {
    return predicted(in_words("dgx:nodes=8:gpus=2:cards=2x200Gbps:leaf=4:rails=" + rails,
                              {{"exchange", "alltoall"}}))
        .link_bytes.at("leaf0-up_UP");
  };
  const double part = bytes / 16;  // of each pair, and 15 of them once round the ring
  EXPECT_NEAR(up("on"), (8 * 8 + 15) * part, 1000);
  EXPECT_NEAR(up("off"), (4 * 12 + 15) * part, 1000);
}

// All bytes of a node's GPUs cross its host once, in whichever direction.
TEST(GeneratedPlatform, SharesTheHostAmongTheGpusOfANode) {
  constexpr double host_Bps = 10e9, pcie_s = 5.7e-6;
  const auto time_s = [](const std::string& words, const std::string& exchange = "ring") {
    const std::string platform = words + ":host=10GBps";
    const double step_s = exchange_s(platform, {{"exchange", exchange}});
    for (const std::string fidelity : {"flow", "analytic"})
      EXPECT_NEAR(exchange_s(platform, {{"exchange", exchange}, {"fidelity", fidelity}}), step_s,
                  0.02 * step_s)
          << words << ' ' << exchange << ' ' << fidelity;
    return step_s;
  };
  // Two slots of 4 GB/s are narrower than the host, slots of 6 GB/s are not.
  EXPECT_NEAR(time_s("pcie:nodes=1:gpus=2:pcie=4GBps"), ring_s(2, pcie_s, 4e9), 1e-9);
  EXPECT_NEAR(time_s("pcie:nodes=1:gpus=2"), ring_s(2, pcie_s, host_Bps / 2), 1e-9);
  EXPECT_NEAR(time_s("pcie:nodes=1:gpus=5"), ring_s(5, pcie_s, host_Bps / 5), 1e-9);
  // Between nodes a ring leaves and enters each, beside the transfers inside.
  const double part = bytes / 6;
  EXPECT_GE(time_s("pcie:nodes=2:gpus=3:cards=1x100Gbps"), 10 * 4 * part / host_Bps);
  const auto loads =
      predicted(in_words("pcie:nodes=2:gpus=3:cards=1x100Gbps:host=10GBps")).link_bytes;
  EXPECT_NEAR(loads.at("node0-host"), 10 * 4 * part, 100);
  EXPECT_NEAR(loads.at("node0-nic_UP"), 10 * part, 100);
}

TEST(GeneratedPlatform, PutsSitesApart) {
  const std::string two = "dgx:gpus=1:cards=1x200Gbps:distance=30ms:line=10Gbps:nodes=2:sites=2";
  EXPECT_NEAR(exchange_s(two), ring_s(2, network_s + 30e-3, 1.25e9), 1e-9);
  EXPECT_NEAR(exchange_s("dgx:gpus=1:cards=1x200Gbps:nodes=3:sites=3"),
              ring_s(3, network_s + 30e-3, 1.25e9), 1e-9);
  EXPECT_NEAR(exchange_s(two + ":leaf=1"), ring_s(2, network_s + 30e-3, 1.25e9), 1e-9);
}

// 4 nodes of 8 GPUs with 8 cards of 50 GB/s each. Averaging through servers on nodes, a node sends
// and receives 3/4 of the gradient for its workers, and as much for its server, over all cards.
// With `asp` each of its 8 workers pushes 3/4 to other nodes, and its server answers each of 24
// others with a quarter. Adding, and transfers inside nodes, cost nothing here.
TEST(GeneratedPlatform, HasServersOnNodesBehindAllTheirCards) {
  const std::string words =
      "dgx:nodes=4:cards=8x400Gbps:nvlink=9000GBps:inside-latency=1ns:latency=1us";
  const double b = 4e8;
  const Options free{{"host-memory-bandwidth", "1e15"}, {"model", model_of({100'000'000})}};
  const auto loads_of = [&](const Options& kind) {
    Options options = free;
    options.insert(kind.begin(), kind.end());
    return predicted(in_words(words, options)).link_bytes;
  };
  auto averages = free;
  averages["exchange"] = "ps";
  averages["iterations"] = "1";
  const double seconds = exchange_s(words, averages);
  EXPECT_GT(seconds, 1.5 * b / 400e9);
  EXPECT_LT(seconds, 1.2 * 1.5 * b / 400e9);
  for (const auto& [kind, of_workers, of_server] : std::vector<std::tuple<Options, double, double>>{
           {{{"exchange", "ps"}}, 0.75 * b, 0.75 * b}, {{{"schedule", "asp"}}, 6 * b, 6 * b}}) {
    auto loads = loads_of(kind);
    EXPECT_NEAR(loads.at("node0-nics_UP"), of_workers + of_server, 1000);
    EXPECT_NEAR(loads.at("node0-memory-nics_UP"), of_server, 1000);
    for (int card = 0; card < 8; ++card)
      EXPECT_NEAR(loads.at("node0-nic" + std::to_string(card) + "_UP"), of_workers / 8, 1000);
  }
}

TEST(GeneratedPlatform, HasAsManyHostsAsItSays) {
  const auto hosts = [](const std::string& words) { return read_platform(words).hosts; };
  EXPECT_EQ(hosts("dgx:nodes=20"), 20 * 9);  // plus the node's memory
  EXPECT_EQ(hosts("dgx:gpus=4+6:cards=2x200Gbps"), 12);
  EXPECT_EQ(hosts("dgx:gpus=3x4+2x6:cards=2x200Gbps"), 29);
  EXPECT_EQ(hosts("dgx:nodes=7:sites=3:leaf=16"), 63);
  for (const PlatformFamily& family : platform_families()) {
    const PlatformFile file = read_platform(family.name);
    EXPECT_EQ(file.refusal, "");
    EXPECT_TRUE(file.files.empty());
    EXPECT_EQ(file.hosts, std::stoi(family.values.at("nodes").text) *
                              (1 + std::stoi(family.values.at("gpus").text)));
  }
}

TEST(GeneratedPlatform, IsItsFileToTheByte) {
  for (const std::string words :
       {"dgx:nodes=3", "dgx:nodes=1+2:gpus=4:cards=4x400Gbps+2x200Gbps", "pcie:gpus=2+3:sites=2",
        "cloud:nodes=4:leaf=2:oversubscription=3",
        "pcie:nodes=3:gpus=4:cards=2x10Gbps:host=7GBps"}) {
    const std::string file = written_platform(platform_text(platform_plan(words)));
    for (const char* schedule : {"bsp", "asp"}) {
      const Options more{{"schedule", schedule}};
      EXPECT_EQ(trace_text(simulated(in_words(words, more)).trace),
                trace_text(simulated(in_words(file, more)).trace))
          << words;
    }
  }
}

// The differences between two results for one platform: in hosts, and in every route between two.
std::string differences(const Platform& one, const Platform& other) {
  std::vector<std::string> names;
  for (const HostFacts& host : one.hosts) {
    const HostFacts& same = other.hosts[index(other.place_of.at(host.name))];
    if (host.node != same.node || host.device != same.device || host.role != same.role ||
        host.site != same.site || host.cores != same.cores ||
        std::abs(host.speed_flops / same.speed_flops - 1) > 1e-12)
      return "host " + host.name;
    names.push_back(host.name);
  }
  if (names.size() != other.hosts.size())
    return "how many hosts";
  Routes routes(one, names);
  Routes others(other, names);
  const auto count = static_cast<int>(names.size());
  for (int from = 0; from < count; ++from)
    for (int to = 0; to < count; ++to) {
      const Route route = routes.between(from, to);
      const Route same = others.between(from, to);
      const std::string way = names[index(from)] + " to " + names[index(to)];
      if (std::abs(route.latency_s - same.latency_s) > 1e-12 * same.latency_s ||
          routes.latency_s(from, to) != route.latency_s)
        return "latency of " + way;
      if (route.links.size() != same.links.size() || !route.fatpipes.empty())
        return "links of " + way;
      for (std::size_t i = 0; i < route.links.size(); ++i) {
        const PlatformLink& link = routes.link(route.links[i]);
        const PlatformLink& expected = others.link(same.links[i]);
        if (link.name != expected.name || link.is_named != expected.is_named ||
            std::abs(link.bandwidth.mean_Bps() / expected.bandwidth.mean_Bps() - 1) > 1e-9)
          return "link " + link.name + " of " + way;
      }
    }
  return "";
}

// `fidelity = analytic` makes platforms in words without SimGrid: the same hosts, and the same
// links in the same order, as SimGrid finds in their XML.
TEST(GeneratedPlatform, IsByArithmeticWhatSimGridLoads) {
  const Options factors{{"bandwidth-factor", "*-nic*:0.5;node1-*:0.9"}, {"latency-factor", "3"}};
  const Options latencies{{"latency-factor", "*-nvlink:2;*:1.5"}, {"bandwidth-factor", "0.94"}};
  const std::vector<std::pair<std::string, Options>> cases{
      {"dgx:nodes=3", {}},
      {"dgx:nodes=3", factors},
      {"dgx:nodes=2:gpus=4+6:cards=2x200Gbps", latencies},
      {"dgx:nodes=1", {}},
      {"dgx:nodes=5:gpus=1:cards=1x400Gbps", {}},
      {"dgx:nodes=1+2:gpus=4:cards=4x400Gbps+2x200Gbps", {}},
      {"dgx:nodes=7:gpus=2:cards=2x200Gbps:sites=3:leaf=4", factors},
      {"dgx:nodes=6:gpus=3:cards=1x100Gbps:sites=2:rails=off:leaf=2:oversubscription=3", {}},
      {"pcie:gpus=2+3:sites=2:distance=10ms:line=1Gbps", {}},
      {"pcie:gpus=3x4+2x6:cards=2x10Gbps", {}},
      {"pcie:gpus=2+3:cards=2x10Gbps+1x25Gbps:host=13GBps", {{"bandwidth-factor", "*-host:0.5"}}},
      {"cloud:nodes=5:gpus=4:leaf=2:oversubscription=3", {}},
      {"dgx-a100:nodes=2+2:device=h100+a100-80:gpus=2:cards=1x200Gbps:inside-latency=1us", {}}};
  for (const auto& [words, more] : cases) {
    Options options{{"platform", words}, {"model", "resnet50"}, {"throughput", "100"}};
    options.insert(more.begin(), more.end());
    Scenario scenario = resolved(options);
    EXPECT_EQ(run_child([&scenario] {
                const auto by_simgrid = load_platform(scenario, read_platform(scenario));
                scenario.fidelity = Fidelity::analytic;
                const PlatformFile file = read_platform(scenario);
                return differences(*load_platform(scenario, file), *by_simgrid) +
                       (file.text.empty() ? "" : "a text that nobody reads");
              }),
              "")
        << words;
  }
}

TEST(GeneratedPlatform, HasAMillionWorkersWithoutSimGrid) {
  const PlatformFile file = read_platform("dgx:nodes=131072", false);
  EXPECT_EQ(file.refusal, "");
  EXPECT_EQ(file.hosts, 131072 * 9);
  EXPECT_EQ(
      read_platform("dgx:nodes=1001").refusal,
      "dgx:nodes=1001: 1001 nodes: allowed are 1 to 1000 for SimGrid, and more with fidelity = "
      "analytic, for schedules without servers");
}

}  // namespace
}  // namespace syncline

#include "sim/platform/platform_families.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/catalogue/devices.h"

namespace syncline {
namespace {

using FamilyValues = std::map<std::string, FamilyValue>;

const std::string nvlink_latency =
    "published: NCCL's tuning table, one step of a ring over NVLink, Simple protocol";
const std::string pcie_latency =
    "published: NCCL's tuning table, one step of a ring over PCIe, Simple protocol";
const std::string rdma_latency =
    "published: NCCL's tuning table, one step of a ring over a network, Simple protocol";
const std::string tcp_latency =
    "published: the fit in the MG-WFBP authors' code, 10 Gbit/s Ethernet and TCP";
const std::string of_devices_csv = "peak of fp32 in platforms/devices.csv";
const std::string rails =
    "modelled: card i of every node on the same switches, as DGX SuperPOD has";
const std::string one_network = "modelled: all cards of a node on the same switch";
const std::string two_sites = "modelled: some 4,500 km of fibre and its routers";
const std::string a_line = "modelled: a provider's line of 10 Gbit/s";

// Adds the values that most families share.
FamilyValues with_usual(FamilyValues own) {
  own.insert({{"oversubscription", {"1", "modelled: as many cables up from a leaf as down"}},
              {"sites", {"1", "one place"}},
              {"distance", {"30ms", two_sites}},
              {"line", {"10Gbps", a_line}}});
  return own;
}

}  // namespace

const std::vector<PlatformWord>& platform_word_rows() {
  static const std::vector<PlatformWord> all{
      {"nodes", "20", "number of nodes; 4+16: of two kinds with different cards or GPUs"},
      {"gpus", "8", "GPUs of a node; 4+6 or 16x8+4x4: for different kinds of nodes"},
      {"cards", "8x400Gbps",
       "network cards of a node, and the rate of each, each way; GPU g uses card g x cards / gpus; "
       "8x400Gbps+4x200Gbps: for different kinds of nodes; 8x400Gbps:ib: the kind of network"},
      {"nvlink", "450GBps",
       "a GPU's rate to the other GPUs of its node, each way, by NVSwitch or a mesh; none: by "
       "PCIe"},
      {"pcie", "63GBps", "a GPU's slot, each way: the way to the card and to the node's memory"},
      {"host", "13GBps",
       "where GPUs have no nvlink: what all of a node move through the host together, to each "
       "other and to cards and memory; without it slots alone limit them",
       "nvlink=none"},
      {"inside-latency", "3.4us", "between two GPUs of a node"},
      {"latency", "14us", "between two GPUs of two nodes"},
      {"rails", "on",
       "on: card i of every node is on leaf switch i; off: all cards of a node are on one"},
      {"leaf", "32", "cards on a leaf switch, below a spine; without it one level of switches"},
      {"oversubscription", "2",
       "bandwidth of all cards of a leaf switch, relative to the switch's uplink", "leaf=32"},
      {"sites", "2", "places with equally many nodes, or one more in the first ones"},
      {"distance", "30ms", "latency that two sites add to the way between their GPUs", "sites=2"},
      {"line", "10Gbps", "a site's line to the others, each way", "sites=2"},
      {"device", "h100",
       "selects throughput rows and cost tables; h100+a100-80: for different kinds of nodes"},
      {"speed", "67Tf", "peak fp32 speed of a GPU"},
  };
  return all;
}

const std::vector<PlatformFamily>& platform_families() {
  static const std::vector<PlatformFamily> all{
      {"cloud", "nodes of 8 V100 with NVLink and one 25 Gbit/s Ethernet card, as clouds rented",
       with_usual(
           {{"nodes", {"4", "as many as one asks for first"}},
            {"gpus", {"8", "Amazon EC2 p3.16xlarge"}},
            {"cards", {"1x25Gbps", "Amazon EC2 p3.16xlarge, nominal; TCP gets some 94 %"}},
            {"nvlink", {"150GBps", "datasheet: Tesla V100, 6 x 25 GB/s; NCCL's table has 6 x 20"}},
            {"pcie", {"15.75GBps", "nominal: PCIe 3.0 x16; NCCL's table has 12 GB/s"}},
            {"inside-latency", {"3.4us", nvlink_latency}},
            {"latency", {"30us", tcp_latency}},
            {"rails", {"off", one_network}},
            {"device", {"v100", "Amazon EC2 p3.16xlarge"}}})},
      {"dgx", "nodes of 8 H100 with NVSwitch and eight 400 Gbit/s cards, as DGX H100",
       with_usual({{"nodes", {"4", "as many as one asks for first"}},
                   {"gpus", {"8", "datasheet: DGX H100"}},
                   {"cards",
                    {"8x400Gbps",
                     "datasheet: DGX H100, ConnectX-7 (NDR); NCCL's maintainers "
                     "expect 48 of the 50 GB/s"}},
                   {"nvlink",
                    {"450GBps",
                     "datasheet: H100-SXM5, 18 x 25 GB/s; NCCL's table has 18 x "
                     "20.6"}},
                   {"pcie", {"63GBps", "nominal: PCIe 5.0 x16"}},
                   {"inside-latency", {"3.4us", nvlink_latency}},
                   {"latency", {"14us", rdma_latency}},
                   {"rails", {"on", rails}},
                   {"device", {"h100", "datasheet: DGX H100"}}})},
      {"dgx-a100", "nodes of 8 A100 with NVSwitch and eight 200 Gbit/s cards, as DGX A100",
       with_usual({{"nodes", {"4", "as many as one asks for first"}},
                   {"gpus", {"8", "datasheet: DGX A100"}},
                   {"cards",
                    {"8x200Gbps",
                     "datasheet: DGX A100, ConnectX-6 (HDR); NCCL's maintainers "
                     "expect 24 of the 25 GB/s"}},
                   {"nvlink",
                    {"300GBps",
                     "datasheet: A100-SXM4, 12 x 25 GB/s; NCCL's table has 12 x "
                     "20"}},
                   {"pcie", {"31.5GBps", "nominal: PCIe 4.0 x16"}},
                   {"inside-latency", {"3.4us", nvlink_latency}},
                   {"latency", {"14us", rdma_latency}},
                   {"rails", {"on", rails}},
                   {"device", {"a100", "datasheet: DGX A100"}}})},
      {"pcie",
       "nodes of 4 RTX 2080 Ti on PCIe and one 10 Gbit/s Ethernet card, as laboratories have",
       with_usual({{"nodes", {"8", "as pcie-8x4-10gbe"}},
                   {"gpus", {"4", "as pcie-8x4-10gbe"}},
                   {"cards", {"1x10Gbps", "nominal; TCP gets some 94 %"}},
                   {"nvlink", {"none", "the card has none for more than two"}},
                   {"pcie",
                    {"6GBps",
                     "modelled: PCIe 3.0 x16 without peer to peer, half of the 12 GB/s "
                     "of NCCL's table"}},
                   {"inside-latency", {"5.7us", pcie_latency}},
                   {"latency", {"30us", tcp_latency}},
                   {"rails", {"off", one_network}},
                   {"device", {"rtx2080ti", "as pcie-8x4-10gbe"}}})},
  };
  return all;
}

const PlatformFamily* platform_family(const std::string& name) {
  const auto found = std::ranges::find(platform_families(), name, &PlatformFamily::name);
  return found == platform_families().end() ? nullptr : &*found;
}

FamilyValue speed_of_device(const std::string& device) {
  const Device* known = known_device(device);
  if (known == nullptr || !known->peak_flops.contains(Arithmetic::fp32))
    return {};
  return {fmt::format("{:.12g}Tf", known->peak_flops.at(Arithmetic::fp32) / 1e12), of_devices_csv};
}

FamilyValue slot_of_device(const std::string& device) {
  const Device* known = known_device(device);
  if (known == nullptr || !known->slot_Bps)
    return {};
  return {fmt::format("{:.12g}GBps", *known->slot_Bps / 1e9),
          "nominal: slot of " + known->name +
              " in platforms/devices.csv; half, where GPUs have no "
              "peer to peer"};
}

FamilyValue latency_of_cards(double card_Bps) {
  constexpr double least_of_rdma_Bps = 12.5e9;
  return card_Bps < least_of_rdma_Bps
             ? FamilyValue{}
             : FamilyValue{"14us", rdma_latency + "; cards of 100 Gbit/s and more count as RDMA"};
}

}  // namespace syncline

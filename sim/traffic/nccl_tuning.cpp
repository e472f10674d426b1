#include "sim/traffic/nccl_tuning.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <iterator>

namespace syncline {
namespace {

// By protocol: LL, LL128, Simple. Microseconds.
using ByProtocol = std::array<double, 3>;
// By algorithm: ring, tree, NVLSTree, which has only Simple.
using Latencies = std::array<ByProtocol, 3>;

constexpr Latencies launch_us{{{6.6, 14, 8.4}, {6.8, 14, 8.4}, {}}};
constexpr Latencies nvlink_us{{{0.6, 1.9, 3.4}, {0.6, 1.25, 4}, {0, 0, 25}}};
constexpr Latencies pci_us{{{1, 2.5, 5.7}, {1, 1.9, 4}, {}}};
constexpr Latencies network_us{{{2.7, 4, 14}, {5, 8.5, 14}, {0, 0, 20.9}}};
// Of posting a message to the network; three times as long for Simple.
constexpr double post_us = 1;

// By generation of GPUs: Volta, Ampere, Hopper, Blackwell.
using ByGeneration = std::array<double, 4>;

// Volta is what is older than Ampere, too. Rates of NVLink: 150, 300, 450 and 900 GB/s each way.
constexpr std::array generations_from{8., 9., 10.};
constexpr std::array generations_from_Bps{225e9, 375e9, 675e9};

// What each link of NVLink carries in NCCL's search for rings, over its nominal rate, in GB/s.
constexpr ByGeneration part_of_nvlink{20. / 25, 20. / 25, 20.6 / 25, 40.1 / 50};

// LL moves no more than this, as bus bandwidth in GB/s: in one node by the generation, else by the
// number of nodes.
constexpr ByGeneration ll_in_a_node_GBps{39, 87.7, 141, 282};
constexpr double ll_of_two_nodes_GBps = 39, ll_of_more_nodes_GBps = 20.4;

// The part of NVLink's bandwidth that NVLSTree keeps.
constexpr ByGeneration part_of_switch{0, 0, 0.85, 0.74};

// What one channel moves, in GB/s, between two nodes and between more. NVLSTree has a channel for
// each GPU of a node.
struct OfAChannel {
  ByGeneration two_nodes_GBps, more_nodes_GBps;
};
constexpr OfAChannel ring_ll128{{20, 20, 36.7, 40}, {20, 20, 36.7, 40}};
constexpr OfAChannel tree_ll128{{20, 20, 36.7, 31.67}, {20, 20, 29, 20}};
constexpr OfAChannel any_tree{{18.5, 23.6, 41.4, 42.8}, {10, 17.8, 36, 24}};
constexpr OfAChannel nvls_tree{{0, 0, 57.7, 96}, {0, 0, 45.5, 80}};

// Bytes on the wire per byte of the gradient.
constexpr ByProtocol wire_bytes{2, 128. / 120, 1};

// The part of the links' bandwidth that rings keep by each protocol.
constexpr ByProtocol part_of_rings{0.5, 0.92, 1};
// Trees keep a part, and of it one by the protocol: in one node, and over several.
constexpr double part_of_trees = 0.92;
constexpr ByProtocol part_in_a_node{1 / 3.8, 7. / 9, 1};
constexpr ByProtocol part_of_nodes{1 / 3.8, 120. / 128, 1};

// What a tree keeps where nodes have one GPU, whose card has all of its edges.
constexpr double part_of_one_gpu = 0.85;

// Of that, trees keep this part, by the binary logarithm of bytes / 64: messages of middle sizes
// fill a tree with few chunks.
constexpr std::array<std::array<double, 24>, 3> part_by_size{
    {{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
     {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
     {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
      .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9}}};
constexpr int sizes_of_trees = 23, sizes_of_nvls_trees = 24;  // NCCL leaves out the last for trees

// Rounded down; -1 of 0.
int log2_of(std::uint64_t number) {
  return static_cast<int>(std::bit_width(number)) - 1;
}

std::size_t place(NcclProtocol protocol) {
  return static_cast<std::size_t>(protocol);
}

double of(const Latencies& latencies, const NcclWay& way) {
  return latencies[static_cast<std::size_t>(way.algorithm)][place(way.protocol)];
}

enum Generation : std::size_t { volta, ampere, hopper, blackwell };

Generation generation_of(const NcclMachine& machine) {
  const auto from = [](const auto& begins, double value) {
    return static_cast<Generation>(std::ranges::upper_bound(begins, value) - begins.begin());
  };
  return machine.compute_capability ? from(generations_from, *machine.compute_capability)
         : machine.has_nvlink()     ? from(generations_from_Bps, machine.inside_Bps)
                                    : ampere;
}

double most_of_ll_Bps(const NcclMachine& machine) {
  return 1e9 * (machine.nodes == 1   ? ll_in_a_node_GBps[generation_of(machine)]
                : machine.nodes == 2 ? ll_of_two_nodes_GBps
                                     : ll_of_more_nodes_GBps);
}

double most_of_channels_Bps(const NcclMachine& machine, const OfAChannel& limit, double channels) {
  const ByGeneration& of = machine.nodes == 2 ? limit.two_nodes_GBps : limit.more_nodes_GBps;
  return channels * 1e9 * of[generation_of(machine)];
}

// Each GPU keeps its own part, and two operations go on at a time.
double switch_Bps(const NcclMachine& machine) {
  const double channels = machine.gpus();
  const double inside_Bps =
      machine.inside_Bps * part_of_switch[generation_of(machine)] * 2 * (channels - 1) / channels;
  return std::min(inside_Bps, most_of_channels_Bps(machine, nvls_tree, channels));
}

double between_nodes_us(const NcclMachine& machine, const NcclWay& way) {
  return of(network_us, way) +
         1e6 * machine.net_latency_s * (way.protocol == NcclProtocol::simple ? 2 : 1);
}

double ring_us(const NcclMachine& machine, const NcclWay& way, bool one_per_node) {
  const bool simple = way.protocol == NcclProtocol::simple;
  const double posted_us = machine.nodes == 1 ? 0 : simple ? 3 * post_us : post_us;
  const double inside_us = std::max(of(machine.has_nvlink() ? nvlink_us : pci_us, way), posted_us);
  // With one GPU per node nothing hides the network's latency: it is as long as a tree's.
  NcclWay exposed = way;
  if (one_per_node)
    exposed.algorithm = NcclAlgorithm::tree;
  const int outside = 2 * (machine.nodes - 1);
  return (2 * (machine.ranks - 1) - outside) * inside_us +
         outside * between_nodes_us(machine, exposed);
}

double tree_us(const NcclMachine& machine, const NcclWay& way) {
  const int levels = log2_of(static_cast<std::uint64_t>(machine.nodes));
  const double inside_us = of(machine.has_nvlink() ? nvlink_us : pci_us, way);
  if (way.algorithm == NcclAlgorithm::nvls_tree)
    return inside_us + 2 * levels * between_nodes_us(machine, way);
  return 2 * ((machine.ranks / machine.nodes - 1) * inside_us +
              levels * between_nodes_us(machine, way));
}

double steps_us(const NcclMachine& machine, const NcclWay& way) {
  return way.algorithm == NcclAlgorithm::ring
             ? ring_us(machine, way, machine.ranks == machine.nodes)
             : tree_us(machine, way);
}

void set_latency(const NcclMachine& machine, NcclWay& way) {
  const double own_us = steps_us(machine, way);
  NcclWay usual = way;  // its exchange has these steps
  usual.protocol = NcclProtocol::simple;
  if (way.algorithm == NcclAlgorithm::nvls_tree)
    usual.algorithm = NcclAlgorithm::tree;
  NcclMachine links_alone = machine;  // whose latencies the exchange has
  links_alone.net_latency_s = 0;
  way.saved_s = 1e-6 * std::max(0.0, steps_us(links_alone, usual) - steps_us(links_alone, way));
  // Rings of Simple over several nodes take longer (NCCL: a plateau).
  const bool plateau = way.algorithm == NcclAlgorithm::ring &&
                       way.protocol == NcclProtocol::simple && machine.nodes > 1;
  const bool old = generation_of(machine) == volta;
  way.latency_s = 1e-6 * (own_us + of(launch_us, way)) * (!plateau ? 1 : old ? 1.9 : 1.4);
}

double part_of_size(std::uint64_t bytes, NcclProtocol protocol, int sizes) {
  const auto part = [&](int size) {
    return size >= sizes ? 1 : part_by_size[place(protocol)][static_cast<std::size_t>(size)];
  };
  const int size = log2_of(bytes / 64);
  if (size < 0)
    return 1;
  const double beyond = std::log2(static_cast<double>(bytes) / 64) - size;
  return std::lerp(part(size), part(size + 1), beyond);
}

double nvlink_Bps(const NcclMachine& machine) {
  return part_of_nvlink[generation_of(machine)] * machine.inside_Bps;
}

// From Hopper on a switch adds in one node (NVLS), which moves as much as a ring at NVLink's
// nominal rate (tests/program/nccl-tests.csv).
double ring_Bps(const NcclMachine& machine) {
  const bool adds = machine.nodes == 1 && generation_of(machine) >= hopper;
  return machine.has_nvlink() && !adds ? std::min(machine.ring_Bps, nvlink_Bps(machine))
                                       : machine.ring_Bps;
}

// NCCL doubles the channels of fast cards, but not if they are more than four of less than 50 GB/s
// on Hopper and later. It counts 0.96 of a card's rate, as in 24 of 25 GB/s.
double channels_of(const NcclMachine& machine) {
  const double channel_Bps = 0.96 * ring_Bps(machine) / machine.channels;
  const bool enough =
      machine.channels > 4 && channel_Bps < 50e9 && generation_of(machine) >= hopper;
  return machine.channels * (channel_Bps >= 25e9 && !enough ? 2 : 1);
}

// What the channels let a ring or a tree have of this bus bandwidth. One card may stand for
// several, whose channels are not known.
double within_channels_Bps(const NcclMachine& machine, const OfAChannel& limit, double bus_Bps) {
  return machine.nodes == 1 || machine.channels == 1
             ? bus_Bps
             : std::min(bus_Bps, most_of_channels_Bps(machine, limit, channels_of(machine)));
}

// Between two nodes a gradient crosses once in a tree, twice in a ring. NCCL's search gives trees
// then up to twice the bandwidth, as far as links inside nodes have it.
double tree_Bps(const NcclMachine& machine) {
  const double bus_Bps = ring_Bps(machine);
  if (machine.nodes != 2 || machine.gpus() == 1)
    return bus_Bps;
  const double inside_Bps = machine.has_nvlink() ? nvlink_Bps(machine) : machine.inside_Bps;
  return std::clamp(inside_Bps, bus_Bps, 2 * bus_Bps);
}

void set_bandwidth(const NcclMachine& machine, std::uint64_t bytes, NcclWay& way) {
  const double n = machine.ranks;
  double moved = 2 * (n - 1) / n;  // bus bandwidth over bytes / seconds
  double bus_Bps = ring_Bps(machine);
  double part = 1;  // of the bandwidth, by size
  switch (way.algorithm) {
    case NcclAlgorithm::ring:
      bus_Bps *= part_of_rings[place(way.protocol)];
      if (way.protocol == NcclProtocol::ll128)
        bus_Bps = within_channels_Bps(machine, ring_ll128, bus_Bps);
      break;
    case NcclAlgorithm::tree:
      moved = 2;
      bus_Bps = within_channels_Bps(machine, any_tree, part_of_trees * tree_Bps(machine)) *
                (machine.nodes == 1 ? part_in_a_node : part_of_nodes)[place(way.protocol)];
      if (way.protocol == NcclProtocol::ll128)
        bus_Bps = within_channels_Bps(machine, tree_ll128, bus_Bps);
      if (machine.ranks == machine.nodes)
        bus_Bps *= part_of_one_gpu;
      part = part_of_size(bytes, way.protocol, sizes_of_trees);
      break;
    case NcclAlgorithm::nvls_tree:
      bus_Bps = std::min(switch_Bps(machine), bus_Bps * (machine.nodes == 2 ? 2 : 1));
      if (generation_of(machine) == blackwell)
        part = part_of_size(bytes, way.protocol, sizes_of_nvls_trees);
      break;
  }
  if (way.protocol == NcclProtocol::ll)
    bus_Bps = std::min(bus_Bps, most_of_ll_Bps(machine));
  way.wire = wire_bytes[place(way.protocol)];
  way.seconds_per_byte = moved / (part * bus_Bps);
}

bool has(const NcclMachine& machine, const NcclWay& way) {
  if (way.algorithm == NcclAlgorithm::nvls_tree)
    return way.protocol == NcclProtocol::simple && machine.nodes > 1 && machine.gpus() > 1 &&
           machine.has_nvlink() && generation_of(machine) >= hopper;
  if (way.protocol != NcclProtocol::ll128)
    return true;
  // LL128 needs GPUs from Volta on that are alike, or Hopper and later, and links that keep 128
  // bytes together: NVLink, or none inside nodes.
  const double capability = machine.compute_capability.value_or(7);
  return capability >= 7 && (!machine.is_mixed || capability >= 9) &&
         (machine.has_nvlink() || machine.ranks == machine.nodes);
}

}  // namespace

std::string NcclWay::name() const {
  constexpr std::array names{" LL", " LL128", " Simple"};
  return (algorithm == NcclAlgorithm::nvls_tree ? "NVLSTree" : exchange()) + names[place(protocol)];
}

std::vector<NcclWay> nccl_ways(const NcclMachine& machine, std::uint64_t bytes) {
  std::vector<NcclWay> ways;
  for (const NcclAlgorithm algorithm :
       {NcclAlgorithm::ring, NcclAlgorithm::tree, NcclAlgorithm::nvls_tree})
    for (const NcclProtocol protocol :
         {NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple})
      if (NcclWay way{.algorithm = algorithm, .protocol = protocol}; has(machine, way)) {
        set_latency(machine, way);
        set_bandwidth(machine, bytes, way);
        ways.push_back(way);
      }
  return ways;
}

}  // namespace syncline

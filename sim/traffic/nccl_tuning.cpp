#include "sim/traffic/nccl_tuning.h"

#include <algorithm>
#include <array>
#include <bit>
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

// LL moves no more than this, as bus bandwidth in GB/s: in one node by the generation of the GPUs,
// else by the number of nodes.
constexpr double volta_GBps = 39, ampere_GBps = 87.7, hopper_GBps = 141, blackwell_GBps = 282;
constexpr double two_nodes_GBps = 39, more_nodes_GBps = 20.4;

// Bytes on the wire per byte of the gradient.
constexpr ByProtocol wire_bytes{2, 128. / 120, 1};

// The part of the links' bandwidth that rings keep, and trees: in one node, and over several.
constexpr ByProtocol part_of_rings{0.5, 0.92, 1};
constexpr ByProtocol part_in_a_node{0.92 / 3.8, 0.92 * 7 / 9, 0.92};
constexpr ByProtocol part_of_nodes{0.92 / 3.8, 0.92 * 120 / 128, 0.92};

// Of that, trees keep this part, by the binary logarithm of bytes / 64: messages of middle sizes
// fill a tree with few chunks.
constexpr std::array<std::array<double, 23>, 3> part_by_size{
    {{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
     {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
     {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9}}};

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

// The generation is known by the rate of its NVLink: 150, 300, 450 and 900 GB/s each way.
constexpr double ampere_from_Bps = 225e9, hopper_from_Bps = 375e9, blackwell_from_Bps = 675e9;

// The part of NVLink's bandwidth that NVLSTree keeps: an efficiency by generation, one of eight
// channels less, and twice, because it pipelines two operations.
constexpr double of_hopper_switch = 2 * 0.85 * 7 / 8, of_blackwell_switch = 2 * 0.74 * 7 / 8;

double most_of_ll_Bps(const NcclMachine& machine) {
  if (machine.nodes > 1)
    return 1e9 * (machine.nodes == 2 ? two_nodes_GBps : more_nodes_GBps);
  return 1e9 * (machine.inside_Bps < ampere_from_Bps      ? volta_GBps
                : machine.inside_Bps < hopper_from_Bps    ? ampere_GBps
                : machine.inside_Bps < blackwell_from_Bps ? hopper_GBps
                                                          : blackwell_GBps);
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
  return (2 * (machine.ranks - 1) - outside) * inside_us + outside * of(network_us, exposed);
}

double tree_us(const NcclMachine& machine, const NcclWay& way) {
  const int levels = log2_of(static_cast<std::uint64_t>(machine.nodes));
  const double inside_us = of(machine.has_nvlink() ? nvlink_us : pci_us, way);
  if (way.algorithm == NcclAlgorithm::nvls_tree)
    return inside_us + 2 * levels * of(network_us, way);
  return 2 * ((machine.ranks / machine.nodes - 1) * inside_us + levels * of(network_us, way));
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
  way.saved_s = 1e-6 * std::max(0.0, steps_us(machine, usual) - own_us);
  // Rings of Simple over several nodes take longer but for tiny messages (NCCL: a plateau).
  const bool plateau = way.algorithm == NcclAlgorithm::ring &&
                       way.protocol == NcclProtocol::simple && machine.nodes > 1;
  way.latency_s = 1e-6 * (own_us + of(launch_us, way)) * (plateau ? 1.4 : 1);
}

double part_of_size(std::uint64_t bytes, NcclProtocol protocol) {
  const std::array<double, 23>& parts = part_by_size[place(protocol)];
  const int size = log2_of(bytes / 64);
  return size < 0 || size >= std::ssize(parts) ? 1 : parts[static_cast<std::size_t>(size)];
}

// Between two nodes a gradient crosses once in a tree, twice in a ring. NCCL's search gives trees
// then up to twice the bandwidth, where NVLink, at 20 of its nominal 25 GB/s, has it.
bool doubles(const NcclMachine& machine) {
  return machine.nodes == 2 && 0.8 * machine.inside_Bps >= 2 * machine.ring_Bps;
}

void set_bandwidth(const NcclMachine& machine, std::uint64_t bytes, NcclWay& way) {
  const double n = machine.ranks;
  const double moved = 2 * (n - 1) / n;  // bus bandwidth over bytes / seconds; trees count 2
  const bool blackwell = machine.inside_Bps >= blackwell_from_Bps;
  double bus_Bps = machine.ring_Bps;
  switch (way.algorithm) {
    case NcclAlgorithm::ring:
      bus_Bps *= part_of_rings[place(way.protocol)];
      break;
    case NcclAlgorithm::tree:
      bus_Bps *= (doubles(machine) ? 2 : 1) * part_of_size(bytes, way.protocol) *
                 (machine.nodes == 1 ? part_in_a_node : part_of_nodes)[place(way.protocol)];
      break;
    case NcclAlgorithm::nvls_tree:
      bus_Bps = std::min(machine.inside_Bps * (blackwell ? of_blackwell_switch : of_hopper_switch),
                         bus_Bps * (machine.nodes == 2 ? 2 : 1)) *
                (blackwell ? part_of_size(bytes, way.protocol) : 1);
      break;
  }
  if (way.protocol == NcclProtocol::ll)
    bus_Bps = std::min(bus_Bps, most_of_ll_Bps(machine));
  way.wire = wire_bytes[place(way.protocol)];
  way.seconds_per_byte = (way.algorithm == NcclAlgorithm::tree ? 2 : moved) / bus_Bps;
}

bool has(const NcclMachine& machine, const NcclWay& way) {
  if (way.algorithm == NcclAlgorithm::nvls_tree)
    return way.protocol == NcclProtocol::simple && machine.nodes > 1 &&
           machine.inside_Bps >= hopper_from_Bps;
  // LL128 needs links that keep 128 bytes together: NVLink, or none inside nodes.
  return way.protocol != NcclProtocol::ll128 || machine.has_nvlink() ||
         machine.ranks == machine.nodes;
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

// What NCCL expects of an all-reduce, by algorithm and protocol: the constants and the formulas by
// which NCCL itself decides (NVIDIA/nccl, src/graph/tuning.cc and topo.h of version 2.30.7, June
// 2026). They are fitted by its authors to their machines. Left out: NVLS in one node, which takes
// what a ring would at the nominal rate of NVLink, CollNet, and limits of one channel in one node.
// NCCL's parts of bandwidth by size are for whole powers of two; between them they are interpolated
// here, so that more bytes never take less.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace syncline {

// The machine, as far as NCCL's model looks at it.
struct NcclMachine {
  int ranks = 2;
  int nodes = 1;
  double inside_Bps = 0;   // between two GPUs of a node; 0: no node has two
  double ring_Bps = 1e12;  // bus bandwidth of a ring over all GPUs, at nominal rates of the links
  // CUDA's, of the oldest GPU. None: told by NVLink's rate; 8.0 without NVLink.
  std::optional<double> compute_capability;
  bool is_mixed = false;  // GPUs have several

  int channels = 1;  // of a ring over several nodes: as many as a node has cards
  // What the network's plugin tells NCCL (NCCL: latencyInter): each message between nodes takes
  // this longer, and one of Simple twice this.
  double net_latency_s = 0;

  int gpus() const { return ranks / nodes; }  // of a node, rounded down
  // Links inside nodes are NVLink if they are faster than PCIe 5.0 x16.
  bool has_nvlink() const { return inside_Bps > 63.1e9; }
};

// A switch that adds makes a tree of nodes (NVLSTree) instead of one of chains of GPUs (Tree).
enum class NcclAlgorithm { ring, tree, nvls_tree };
// LL sends a flag with each 4 bytes, LL128 with each 120; Simple waits for whole chunks instead.
enum class NcclProtocol { ll, ll128, simple };

// One algorithm by one protocol, for an all-reduce of `bytes`.
struct NcclWay {
  NcclAlgorithm algorithm = NcclAlgorithm::ring;
  NcclProtocol protocol = NcclProtocol::simple;
  double latency_s = 0;  // of all steps, with that of the launch
  // What Simple takes longer for the same steps, without the launch and the plateau of rings; or
  // Tree longer than NVLSTree.
  double saved_s = 0;
  double seconds_per_byte = 0;  // of the gradient
  double wire = 1;              // bytes on the wire per byte of the gradient

  std::string exchange() const { return algorithm == NcclAlgorithm::ring ? "ring" : "tree"; }
  // "ring LL128"
  std::string name() const;
  double seconds(std::uint64_t bytes) const {
    return latency_s + seconds_per_byte * static_cast<double>(bytes);
  }
};

// All ways that NCCL has on this machine. Nodes are taken to have Intel CPUs, where NCCL's
// constants differ.
std::vector<NcclWay> nccl_ways(const NcclMachine& machine, std::uint64_t bytes);

}  // namespace syncline

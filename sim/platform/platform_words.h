// A platform in words, such as dgx:nodes=20:cards=8x200Gbps: a family and the values that differ
// from it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/platform/platform_families.h"

namespace syncline {

// Bandwidth of a node's memory for each network card: both are on a PCIe switch below the
// processors.
constexpr double memory_port_Bps = 48e9;

struct PlatformPlan {
  std::string words;  // as written
  const PlatformFamily* family = nullptr;
  std::map<std::string, FamilyValue> values;  // by word, given or the family's
  std::vector<int> gpus;                      // of each node
  struct Cards {
    int count = 1;
    double Bps = 0;  // of each
  };
  std::vector<Cards> cards;  // of each node
  std::string network;       // the kind of network of all cards; empty: not named
  struct Gpu {
    std::string device, speed, slot;  // as in XML
  };
  std::vector<Gpu> gpu_kinds;  // of each node
  bool nvlink = false;
  double host_Bps = 0;  // what all GPUs of a node share besides cards; 0: nothing
  double inside_s = 0, network_s = 0;
  int nodes_per_leaf = 0;  // 0: one level of switches
  double uplink_Bps = 0;   // of all these nodes together
  int sites = 1;
  double distance_s = 0;

  int gpu_count() const;
  int nodes() const { return static_cast<int>(gpus.size()); }
  int nodes_at(int site) const { return nodes() / sites + (site < nodes() % sites ? 1 : 0); }
  // Latency of a network card: half of the latency between nodes, without their buses.
  double card_s() const { return (network_s - (nvlink ? 0 : inside_s)) / 2; }
  const std::string& text(const std::string& word) const { return values.at(word).text; }
};

// True if this is a platform in words, not a file: it begins with the name of a family.
bool is_platform_words(const std::string& platform);

// Throws std::invalid_argument that says what is wrong and what is allowed.
PlatformPlan platform_plan(const std::string& words);

// A warning for each word with a lower rate than this.
std::vector<std::string> slow_words(const PlatformPlan& plan, double least_Bps);

// Throws std::invalid_argument if the platform has more than SimGrid loads in reasonable time.
void require_for_simgrid(const PlatformPlan& plan);

}  // namespace syncline

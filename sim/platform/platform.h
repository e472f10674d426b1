// The SimGrid platform of a scenario, loaded into this process's one engine.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/bandwidth.h"
#include "sim/plan.h"
#include "sim/platform/hosts.h"
#include "sim/platform/platform_check.h"
#include "sim/scenario.h"

namespace simgrid::s4u {
class Link;
}

namespace syncline {

struct Route {
  double latency_s = 0;  // with the network model's factor
  // Its TCP windows leave so much to each flow by itself: the least of its links, over the seconds
  // there and back.
  double window_Bps = std::numeric_limits<double>::infinity();
  // They and its FATPIPE links do, however many flows there are.
  double flow_Bps = std::numeric_limits<double>::infinity();
  std::vector<int> links;     // that flows share: indices into Routes::links(); none within a host
  std::vector<int> fatpipes;  // the others, likewise
};

struct PlatformLink {
  std::string name;
  Bandwidth bandwidth;    // with the network model's factor
  bool is_named = false;  // by a pattern of bandwidth-factor
  bool fatpipe = false;   // it limits each flow by itself
};

// Starts the engine with the scenario's network model and loads its platform. Call it once per
// process. SimGrid answers a bad file with an abort and a message on stderr: call it in a child
// process (sim/sweep/process.h), which turns that into one line.
std::vector<HostFacts> load_platform(const Scenario& scenario, const PlatformFile& platform);

std::string simgrid_version();

// Facts of the loaded platform, for ranks that run on `rank_hosts`.
class Routes {
 public:
  explicit Routes(std::vector<std::string> rank_hosts);
  // From one rank's host to another's.
  Route between(int from, int to);
  // Latency of that route now, with the network model's factor: latency profiles change it.
  double latency_s(int from, int to);
  // Bandwidth of the narrowest link on the way; infinite within a host.
  double width_Bps(int from, int to);
  const std::vector<PlatformLink>& links() const { return links_; }
  const PlatformLink& link(int i) const { return links_[index(i)]; }
  int cores(int rank) const;  // of its host
  // From now on the links that bandwidth-factor names have so many times their bandwidth.
  void scale_named(double times);
  static bool have_windows();

 private:
  // A route's latency is the sum of its links' and, in some zones, a rest.
  struct Latency {
    std::vector<const simgrid::s4u::Link*> links;
    double rest_s = 0;
  };
  std::vector<std::string> rank_hosts_;
  std::unordered_map<std::uint64_t, Latency> latencies_;  // by from * ranks + to
  std::vector<PlatformLink> links_;
  double scale_ = 1;                            // of links that are named
  std::unordered_map<const void*, int> index_;  // of SimGrid's links in links_
};

}  // namespace syncline

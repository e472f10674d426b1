// A platform: its hosts, the links between them, and the routes between hosts. Both SimGrid and
// arithmetic can provide it (platform.h).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/bandwidth.h"
#include "sim/plan.h"
#include "sim/platform/hosts.h"

namespace syncline {

struct PlatformLink {
  std::string name;
  Bandwidth bandwidth;    // with the network model's factor
  bool is_named = false;  // a pattern of bandwidth-factor matches it
  bool fatpipe = false;   // limits each flow by itself
  // Bytes that one transfer may have in flight, by the link's TCP window.
  double window_bytes = std::numeric_limits<double>::infinity();
};

// Numbers of the links from one host to another, in order. No links, or an exception from SimGrid:
// there is no route.
struct LinkPath {
  std::vector<int> links;
  double latency_s = 0;  // without the network model's factor
};

struct Platform {
  std::string name;  // the scenario's name of the platform
  std::vector<HostFacts> hosts;
  std::unordered_map<std::string, int> place_of;   // by the host's name
  std::function<LinkPath(int from, int to)> path;  // between two different hosts
  std::function<PlatformLink(int link)> link;
  std::function<double(int link)> link_latency_s;  // now, without the network model's factor
  double latency_factor = 1;                       // for every route
  bool latencies_change = false;                   // by profiles
  bool bandwidths_change = false;                  // likewise
  bool have_windows = false;
};

struct Route {
  double latency_s = 0;  // with the network model's factor
  // The bandwidth that its TCP windows leave to each flow by itself: the smallest window on its
  // links, over the seconds there and back.
  double window_Bps = std::numeric_limits<double>::infinity();
  // The same with its FATPIPE links: a limit for each flow, however many flows there are.
  double flow_Bps = std::numeric_limits<double>::infinity();
  std::vector<int> links;     // that flows share: indices into Routes::links(); none within a host
  std::vector<int> fatpipes;  // likewise, of FATPIPE links
};

// Routes between ranks. Refers to the platform, which must outlive it.
class Routes {
 public:
  Routes(const Platform& platform, const std::vector<std::string>& rank_hosts);
  // The route from one rank's host to another's.
  Route between(int from, int to);
  // Latency of that route now, with the network model's factor. Latency profiles change it.
  double latency_s(int from, int to);
  // Bandwidth of the narrowest link on the route; infinite within a host.
  double width_Bps(int from, int to);
  const std::vector<PlatformLink>& links() const { return links_; }
  const PlatformLink& link(int i) const { return links_[index(i)]; }
  int cores(int rank) const { return host(rank).cores; }
  // Property `device` of the rank's host; empty: none.
  const std::string& device(int rank) const { return host(rank).device; }
  // Sets the bandwidth of links named by bandwidth-factor to `times` its original value.
  void scale_named(double times);
  // Multiplies the bandwidth of these links, given by their places in links().
  void scale(const std::vector<int>& links, double times);
  bool have_windows() const { return platform_->have_windows; }

 private:
  // A route's latency: the sum over its links and, in some zones, a constant.
  struct Latency {
    std::vector<int> links;  // links whose latency may change
    double rest_s = 0;
  };
  const HostFacts& host(int rank) const { return platform_->hosts[index(hosts_[index(rank)])]; }

  const Platform* platform_;
  std::vector<int> hosts_;                                // by rank
  std::unordered_map<std::uint64_t, Latency> latencies_;  // by from * ranks + to
  std::vector<PlatformLink> links_;
  double scale_ = 1;                 // of named links
  std::vector<int> place_in_links_;  // by number of the platform's link; -1: not yet in `links_`
};

}  // namespace syncline

// A platform: its hosts, the links between them, and how one host reaches another. Who made it,
// SimGrid or arithmetic (platform.h), makes no difference here.
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
  bool is_named = false;  // by a pattern of bandwidth-factor
  bool fatpipe = false;   // it limits each flow by itself
  // Bytes that one transfer may have on their way, by the link's TCP window.
  double window_bytes = std::numeric_limits<double>::infinity();
};

// From one host to another: links in their order, by their numbers. No links, or an exception of
// SimGrid's: there is no way.
struct LinkPath {
  std::vector<int> links;
  double latency_s = 0;  // without the network model's factor
};

struct Platform {
  std::string name;  // as it was given
  std::vector<HostFacts> hosts;
  std::unordered_map<std::string, int> place_of;   // of each host there, by its name
  std::function<LinkPath(int from, int to)> path;  // of two hosts, which are not the same
  std::function<PlatformLink(int link)> link;
  std::function<double(int link)> link_latency_s;  // now, without the network model's factor
  double latency_factor = 1;                       // of every route
  bool latencies_change = false;                   // by profiles
  bool have_windows = false;
};

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

// Between ranks. The platform must live as long.
class Routes {
 public:
  Routes(const Platform& platform, const std::vector<std::string>& rank_hosts);
  // From one rank's host to another's.
  Route between(int from, int to);
  // Latency of that route now, with the network model's factor: latency profiles change it.
  double latency_s(int from, int to);
  // Bandwidth of the narrowest link on the way; infinite within a host.
  double width_Bps(int from, int to);
  const std::vector<PlatformLink>& links() const { return links_; }
  const PlatformLink& link(int i) const { return links_[index(i)]; }
  int cores(int rank) const { return host(rank).cores; }
  // From now on the links that bandwidth-factor names have so many times their bandwidth.
  void scale_named(double times);
  bool have_windows() const { return platform_->have_windows; }

 private:
  // A route's latency is the sum of its links' and, in some zones, a rest.
  struct Latency {
    std::vector<int> links;  // those that may change
    double rest_s = 0;
  };
  const HostFacts& host(int rank) const { return platform_->hosts[index(hosts_[index(rank)])]; }

  const Platform* platform_;
  std::vector<int> hosts_;                                // by rank
  std::unordered_map<std::uint64_t, Latency> latencies_;  // by from * ranks + to
  std::vector<PlatformLink> links_;
  double scale_ = 1;                 // of links that are named
  std::vector<int> place_in_links_;  // of the platform's links, by number; -1: not yet
};

}  // namespace syncline

// A platform's profiles of speed, bandwidth, latency and state over time.
#pragma once

#include <map>
#include <set>
#include <string>

#include "sim/bandwidth.h"

namespace syncline {

struct Profiles {
  // Seconds after which all profiles have shown their values once: the longest period, or the time
  // of the last change if nothing repeats. 0: nothing changes.
  double shown_s = 0;
  double period_s = 0;    // the longest period; 0: nothing repeats
  double most_speed = 1;  // the largest factor of any host's speed, and at least 1
  // By host: the mean factor of its speed in a period, or the last factor if the profile does not
  // repeat. Hosts that are not listed have 1.
  std::map<std::string, double> mean_speeds = {};
  // By the platform's name of the link. Before its first change a link has its own bandwidth.
  std::map<std::string, Bandwidth> bandwidths = {};
  std::set<std::string> latencies = {};  // links whose latency changes
  // By link: bytes that one transfer may have in flight, properties tcp-window times streams.
  std::map<std::string, double> windows = {};
  std::set<std::string> cards = {};  // links whose rate is that of network cards: property kind
};

}  // namespace syncline

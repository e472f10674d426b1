// A platform says something about the future in profiles of speed, bandwidth, latency and state.
#pragma once

#include <map>
#include <set>
#include <string>

#include "sim/bandwidth.h"

namespace syncline {

struct Profiles {
  // Seconds after which each has shown what it does: the longest period, or the time of the last
  // change where nothing repeats; 0: nothing changes.
  double shown_s = 0;
  double period_s = 0;    // the longest; 0: nothing repeats
  double most_speed = 1;  // the largest factor of any host's speed, and at least 1
  // By host, the factor of its speed in the long run: of a period, or the last where nothing
  // repeats. Of others it is 1.
  std::map<std::string, double> mean_speeds = {};
  // The links' are by the name that the platform gives them. Before its first change a link carries
  // what it says itself.
  std::map<std::string, Bandwidth> bandwidths = {};
  std::set<std::string> latencies = {};  // links whose latency changes
  // By link: bytes that one transfer may have on their way, properties tcp-window times streams.
  std::map<std::string, double> windows = {};
};

}  // namespace syncline

// A platform says something about the future in profiles of speed, bandwidth, latency and state.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/bandwidth.h"

namespace syncline {

struct Profiles {
  // Seconds after which each has shown what it does: the longest period, or the time of the last
  // change where nothing repeats; 0: nothing changes.
  double shown_s = 0;
  double period_s = 0;    // the longest; 0: nothing repeats
  double most_speed = 1;  // the largest factor of any host's speed, and at least 1
  // The links' are by the name that the platform gives them. Before its first change a link carries
  // what it says itself.
  std::map<std::string, Bandwidth> bandwidths = {};
};

// The rows of one.
struct Profile {
  Profiles times;
  std::vector<Bandwidth::Change> rows;  // times and values, whatever they are values of
  double least = 0;                     // of its values
  double most = 0;
};

// Reads rows of a time and a value; a line PERIODICITY with seconds repeats them, LOOPAFTER does so
// many seconds after the last. They also repeat after `period_s`, if it is more than 0. Throws
// std::runtime_error, which begins with `path` and the line, where SimGrid would go back in time,
// stop for ever or end.
Profile read_profile(const std::string& rows, const std::string& path, int first_line,
                     double period_s);

}  // namespace syncline

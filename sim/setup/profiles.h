// What a platform says about the future: profiles of speed, bandwidth, latency and state.
#pragma once

#include <string>

namespace syncline {

struct Profiles {
  // Seconds after which each has shown what it does: the longest period, or the time of the last
  // change where nothing repeats; 0: nothing changes.
  double shown_s = 0;
  double period_s = 0;  // the longest; 0: nothing repeats
};

// Of this platform file. SimGrid has read it before, and tells nobody.
Profiles profiles_of(const std::string& platform_path);

}  // namespace syncline

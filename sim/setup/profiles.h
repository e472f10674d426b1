// What a platform says about the future: profiles of speed, bandwidth, latency and state.
#pragma once

#include <string>

namespace syncline {

// Seconds after which every profile of this platform file has shown what it does: the longest
// period, or the time of the last change where nothing repeats; 0: nothing changes. SimGrid has
// read the file before and tells nobody.
double profiles_s(const std::string& platform_path);

}  // namespace syncline

// What the software of parameter servers takes per tensor, as measured:
// platforms/server-software.csv.
#pragma once

#include <cstdint>
#include <string>

#include "sim/scenario.h"

namespace syncline {

// Of "none", a number of seconds or the name of a software. Throws std::invalid_argument that lists
// the names with a measured time, also for software that nobody has measured.
ServerSoftware server_software(const std::string& text);

// The shape of Weibull's distribution with this coefficient of variation; 1 is exponential. 0 where
// nothing varies.
double service_shape(double coefficient);
// A factor with mean 1 and this shape, of what one worker's update of an iteration takes on a
// server. Counter-based, as jitter_factor.
double service_factor(double shape, std::uint64_t seed, int server, int worker, int iteration);

}  // namespace syncline

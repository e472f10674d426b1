// Measured times of parameter servers' software per tensor: platforms/server-software.csv.
#pragma once

#include <cstdint>
#include <string>

#include "sim/scenario.h"

namespace syncline {

// The software for "none", a number of seconds, or the name of a software. Throws
// std::invalid_argument that lists the names with a measured time, also for software that has not
// been measured.
ServerSoftware server_software(const std::string& text);

// The shape of the Weibull distribution with this coefficient of variation; 1 is exponential.
// Returns 0 for no variation.
double service_shape(double coefficient);
// A random factor with mean 1 and this shape, for the time that one worker's update of an iteration
// takes on a server. Counter-based, like jitter_factor().
double service_factor(double shape, std::uint64_t seed, int server, int worker, int iteration);

}  // namespace syncline

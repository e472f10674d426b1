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

// A factor with mean 1 and this coefficient of variation, of what one worker's update of an
// iteration takes on a server: exponential at 1, else Weibull's distribution. Counter-based, as
// jitter_factor.
double service_factor(double coefficient, std::uint64_t seed, int server, int worker,
                      int iteration);

}  // namespace syncline

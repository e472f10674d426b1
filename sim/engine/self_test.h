// Checks SimGrid against times that are known by arithmetic. A SimGrid that reads settings or
// platforms differently from the versions that this program was made for would make every figure
// wrong without an error.
#pragma once

#include <string>

#include "sim/catalogue/network.h"

namespace syncline {

// Simulates transfers over one link as a run does: one alone, and two that share the link, also
// over routes with different latencies. Returns an empty text if each takes latency + bytes /
// bandwidth, else a line that says which transfer took how long. Call it once per process, instead
// of a simulation.
std::string self_test(const Network& network);

}  // namespace syncline

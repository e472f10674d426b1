// Asks SimGrid what arithmetic knows. A SimGrid that reads settings or platforms in another way
// than the versions that this program was made with would make every figure wrong without a word.
#pragma once

#include <string>

#include "sim/catalogue/network.h"

namespace syncline {

// Simulates transfers over one link as a run does: alone, and two that share it, over routes of
// unlike latencies too. Returns an empty text if each takes latency + bytes / bandwidth, else a
// line that says what took how long. Call it once per process, instead of a simulation.
std::string self_test(const Network& network);

}  // namespace syncline

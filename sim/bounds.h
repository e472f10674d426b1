// Closed forms: what an exchange costs and what no simulation can beat, from plans and routes
// alone.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/platform.h"
#include "sim/simulation.h"

namespace syncline {

// Seconds of averaging b bytes when nothing else is under way: startup_s + b * seconds_per_byte.
struct ExchangeCost {
  double startup_s = 0;
  double seconds_per_byte = 0;
};

// Sum over the phases of the plan: steps * (latency + step-overhead) of the rank that pays most,
// and bytes / bandwidth of the link that carries most. `seconds_per_byte` is taken at the model's
// size.
ExchangeCost exchange_cost(const Setup& setup, Routes& routes);
double exchange_seconds(const Setup& setup, Routes& routes, std::uint64_t bytes);

// What one iteration of all workers puts on each link (index into routes.links()), by the plans of
// the exchange, the pushes and pulls of a server schedule, or the copies inside nodes of one with
// aggregators (what those send across nodes depends on how often they are asked).
std::map<int, double> link_bytes_per_iteration(const Setup& setup, Routes& routes);

}  // namespace syncline

// How old the parameters were that gradients were computed from, in three units.
#pragma once

#include <cstdint>
#include <map>

#include "sim/trace.h"

namespace syncline {

// Over gradients that servers applied, part by part (bucket and server). Between reading parameters
// and applying the gradient computed from them, others are applied to the same part.
struct Staleness {
  // Gradients of single workers in those updates: what schedules can be compared by.
  double gradients_mean = 0;
  std::int64_t gradients_max = 0;
  std::map<std::int64_t, std::int64_t> histogram;  // of gradients: parts
  // The updates themselves. One of `inhad` adds many gradients, one of others one.
  double updates_mean = 0;
  // SSP's clocks: the gradient's iteration less the iterations that its parameters had from the
  // worker of which they had fewest.
  double iterations_mean = 0;
};

// Of gradients applied after `from_s` and not after `to_s`.
Staleness staleness_of(const Trace& trace, double from_s, double to_s);

}  // namespace syncline

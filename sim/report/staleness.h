// Staleness: how old the parameters were that gradients were computed from, in three units.
#pragma once

#include "sim/result.h"
#include "sim/trace.h"

namespace syncline {

// Adds the staleness of gradients that servers applied in the window, part by part (bucket and
// server). Between reading parameters and applying the gradient computed from them, others are
// applied to the same part. They are counted as gradients of single workers, which schedules can be
// compared by; as updates, of which one of `inhad` adds many gradients, one of others one; and as
// iterations, SSP's clocks: the gradient's iteration less the iterations that its parameters had
// from the worker of which they had fewest.
void add_staleness(const Trace& trace, Figures& figures);

}  // namespace syncline

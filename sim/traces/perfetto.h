// A trace as Chrome's JSON, which ui.perfetto.dev and chrome://tracing open.
#pragma once

#include <ostream>

#include "sim/trace.h"

namespace syncline {

// A process per rank and a track per stream of it; messages that overlap are in lanes of their own.
// Arrows go from the slice that sends a message to the one that receives it. Counters: how full the
// eight busiest links are, and the staleness, in updates, of what servers apply. Times are rounded
// to nanoseconds. Writes event by event.
void write_perfetto(const Trace& trace, std::ostream& out);

}  // namespace syncline

// One iteration as GOAL, the text that LogGOPSim and its like replay (Hoefler, Siebert, Lumsdaine:
// Group Operation Assembly Language, ICPP 2009).
#pragma once

#include <ostream>

#include "sim/trace.h"

namespace syncline {

// The rows of the iteration that every worker has reached in the middle of the window: `calc` in
// nanoseconds, and a `send` and a `recv` for each message that the trace keeps. What requires what
// follows from the order of each stream, and from which row makes or uses a bucket, so another
// network gives other times. Messages on one host have one byte. With `overlap`, a bucket is
// sent when its gradients are there, else after backward.
void write_goal(const Trace& trace, bool overlap, std::ostream& out);

}  // namespace syncline

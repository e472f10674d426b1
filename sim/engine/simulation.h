// The engine's only entry: it simulates a setup and returns the trace.
#pragma once

#include "sim/setup/setup.h"
#include "sim/trace.h"

namespace syncline {

// Call it once per process. Throws std::runtime_error where a schedule's code throws or its actors
// deadlock.
Trace simulate(const Setup& setup);

}  // namespace syncline

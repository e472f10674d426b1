// The engine's one entry: a setup is run to a trace.
#pragma once

#include "sim/setup/setup.h"
#include "sim/trace.h"

namespace syncline {

// Once per process. Throws std::runtime_error where a schedule's code throws or its actors
// deadlock.
Trace simulate(const Setup& setup);

}  // namespace syncline

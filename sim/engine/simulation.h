// The only entry to a run: simulates a setup, or evaluates it with `fidelity = analytic`, and
// returns the trace.
#pragma once

#include <functional>

#include "sim/learned.h"
#include "sim/setup/setup.h"
#include "sim/trace.h"

namespace syncline {

// Call it once per process. Throws std::runtime_error if a schedule's code throws or its actors
// deadlock. Where the scenario learns, `evaluated` is called during the run with each point of the
// learning curve.
Trace simulate(const Setup& setup, std::function<void(const CurvePoint&)> evaluated = {});

}  // namespace syncline

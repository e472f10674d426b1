// `fidelity = analytic`: evaluates a run by arithmetic, without messages.
#pragma once

#include "sim/setup/setup.h"
#include "sim/trace.h"

namespace syncline {

// Calls the schedule's function once, for all workers together. Each verb advances every worker's
// clock by the verb's cost. A collective begins when the last of its workers has reached it, and
// takes the time of exchange_time(). Throws the exceptions of require_arithmetic() and of the
// schedule.
Trace by_arithmetic(const Setup& setup);

}  // namespace syncline

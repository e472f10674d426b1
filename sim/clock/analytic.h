// `fidelity = analytic`: a run by arithmetic, without messages.
#pragma once

#include "sim/setup/setup.h"
#include "sim/trace.h"

namespace syncline {

// Calls the schedule's function once, for all workers together: each verb takes every worker on by
// what it costs it, and a collective begins when the last of its workers has come. It takes what
// exchange_time() says. Throws as require_arithmetic, and what the schedule throws.
Trace by_arithmetic(const Setup& setup);

}  // namespace syncline

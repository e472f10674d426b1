// Everything in a run's trace but its rows, for both kinds of run: simulated, or by arithmetic with
// `fidelity = analytic`.
#pragma once

#include <functional>
#include <vector>

#include "sim/clock/run_length.h"
#include "sim/platform/routes.h"
#include "sim/setup/setup.h"
#include "sim/trace.h"

namespace syncline {

// A trace with its ranks, their nodes and devices, without rows.
Trace begun_trace(const Setup& setup);

// Calls `sent(from, to, bytes)` for the bytes that one rank has sent another over the network in
// the whole run; perhaps several times for a pair.
using SentBetween =
    std::function<void(const std::function<void(int from, int to, double bytes)>& sent)>;

// Call this when all rows are there: adds the measured window and the bytes on links. `computed`:
// the buckets of the rows `backward`.
void finish_trace(const Setup& setup, const std::vector<Bucket>& computed, const RunLength& length,
                  Routes& routes, const SentBetween& for_each_pair, double end_s, Trace& trace);

}  // namespace syncline

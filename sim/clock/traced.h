// What a run's trace says besides its rows, whoever carries out the verbs: the engine, or in
// `fidelity = analytic` arithmetic.
#pragma once

#include <functional>
#include <vector>

#include "sim/clock/length.h"
#include "sim/platform/routes.h"
#include "sim/setup/setup.h"
#include "sim/trace.h"

namespace syncline {

// Its ranks, their nodes and devices; no rows yet.
Trace begun_trace(const Setup& setup);

// Calls `sent(from, to, bytes)` for the bytes that one rank has sent another on the network, in the
// whole run; of one pair perhaps several times.
using SentBetween =
    std::function<void(const std::function<void(int from, int to, double bytes)>& sent)>;

// Once all rows are there: what is measured, and what has crossed the links. `computed`: buckets of
// its rows `backward`.
void finish_trace(const Setup& setup, const std::vector<Bucket>& computed, const Length& length,
                  Routes& routes, const SentBetween& for_each_pair, double end_s, Trace& trace);

}  // namespace syncline

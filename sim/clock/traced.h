// What a run's trace says besides its rows, whoever carries out the verbs: the engine, or in
// `fidelity = analytic` arithmetic.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/clock/length.h"
#include "sim/platform/platform.h"
#include "sim/setup/setup.h"
#include "sim/trace.h"

namespace syncline {

// Its ranks, their nodes and devices; no rows yet.
Trace begun_trace(const Setup& setup);

// Bytes that one rank has sent another on the network, by from * ranks + to.
using BytesBetween = std::map<std::uint64_t, double>;

// Once all rows are there: what is measured, and what has crossed the links. `computed`: buckets of
// its rows `backward`.
void finish_trace(const Setup& setup, const std::vector<Bucket>& computed, const Length& length,
                  Routes& routes, const BytesBetween& between, double end_s, Trace& trace);

}  // namespace syncline

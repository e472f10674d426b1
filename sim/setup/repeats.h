// A cell may have several runs, with seeds of their own.
#pragma once

#include <cstdint>
#include <string>

#include "sim/setup/setup.h"

namespace syncline {

// A cell has as many runs as the option `repeats` says. With `auto` the scenario alone says: five
// where chance decides when workers meet (compute times or sizes are drawn, and not all wait for
// all in every round, which would make its rounds independent), or as many, three at least, as fit
// into the seconds of a core that a cell may take, if each takes its least length by the estimate.
// Else one; one too where something is learned.
int runs_of(const Setup& setup, double seconds_of_a_run, double most_seconds);

// What a result says that has fewer runs than chance needs; empty: it has enough, or as many as
// `repeats` says.
std::string too_few_runs(const Setup& setup, int runs);

// Whether it does: then one run says less of another than it sees of itself.
bool chance_decides(const Setup& setup);

// To what part each of several runs must know its throughput, so that their mean is known to
// `interval`; of one or two runs, the same.
double interval_of_each(double interval, int runs);

// Run 0 has the scenario's own; the others one each, which is drawn from it.
std::uint64_t seed_of_run(std::uint64_t seed, int run);

}  // namespace syncline

// The runs of a cell, each with its own seed.
#pragma once

#include <cstdint>
#include <string>

#include "sim/setup/setup.h"

namespace syncline {

// The number of runs of a cell. The option `repeats` sets it. With `auto` the scenario decides:
// five runs if chance decides when workers meet (Setup::has_chance(), and not all workers wait for
// all others in every round, which would make its rounds independent). If five of the shortest
// runs, by the estimate, do not fit into the seconds of a core that a cell may take: four or three.
// One if three do not fit, if chance does not decide, or if something is learned.
int runs_of(const Setup& setup, double seconds_of_a_run, double most_seconds);

// The result's note if it has fewer runs than random variation calls for; empty: it has enough, or
// the number that `repeats` sets.
std::string too_few_runs(const Setup& setup, int runs);

// True if chance decides when workers meet. One run then tells less about other runs than its own
// spread suggests.
bool chance_decides(const Setup& setup);

// The relative interval to which each of several runs must know its throughput, so that their mean
// is known to `interval`. For one or two runs, the same interval.
double interval_of_each(double interval, int runs);

// The seed of a run: run 0 has the scenario's own; the others' are drawn from it.
std::uint64_t seed_of_run(std::uint64_t seed, int run);

}  // namespace syncline

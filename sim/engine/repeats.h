// A cell may have several runs, with seeds of their own.
#pragma once

#include <cstdint>

#include "sim/setup/setup.h"

namespace syncline {

// A cell has as many as the option `repeats` says. With `auto` the scenario alone says: one, but
// five where chance decides when workers meet (compute times or sizes are drawn, and not all wait
// for all in every round, which would make its rounds independent) and five of the shortest runs,
// of so many seconds of a core by the estimate, take at most two, or a hundred with a schedule that
// settles slowly, of which one run alone does not know; one where something is learned.
int runs_of(const Setup& setup, double seconds_of_a_run);

// Whether a cell has so many runs only because five would take too long, though its schedule
// settles slowly.
bool are_too_few(const Setup& setup, int runs);
constexpr const char* too_few_runs =
    "one run, because five would take long: chance decides in which of several ways this schedule "
    "goes on, and the interval is of this one alone; repeats = 5 has several";

// Run 0 has the scenario's own; the others one each, which is drawn from it.
std::uint64_t seed_of_run(std::uint64_t seed, int run);

}  // namespace syncline

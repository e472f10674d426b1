// Workers that send each other copies of their parameters, without SimGrid: for schedules whose
// workers wait for certain copies only.
#pragma once

#include <optional>

#include "sim/clock/averaging.h"
#include "sim/setup/setup.h"
#include "sim/trace.h"

namespace syncline {

// Follows each worker's verbs, and every copy over links that copies share as max-min fairness
// says. Throws std::runtime_error if workers draw by chance to whom they send or answer copies
// while they compute, or if a worker waits for a copy that nobody sends.
Trace copies_by_arithmetic(const Setup& setup);

// The same for `explain`: without jitter, in the second half of up to 48 rounds; `exchange` is the
// copies of an iteration alone. None: the above throws, calls go on changing, or there are too many
// copies to follow.
std::optional<Averaging> averaging_with_neighbours(const Setup& setup);

}  // namespace syncline

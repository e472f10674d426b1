// One cell, from its scenario to its result and its files: the table of contents of the program.
#pragma once

#include <functional>
#include <optional>

#include "sim/learned.h"
#include "sim/result.h"
#include "sim/sweep/cell.h"
#include "sim/sweep/limits.h"

namespace syncline {

struct SimulatedCell {
  std::optional<Result> result;
  double waits_s = 0;       // there is none, because it takes so long and may wait for its turn
  std::string not_written;  // why its files could not be written: others' could not either
};

// Call it in a process of its own: SimGrid allows one engine per process. `evaluated` is called
// during a run that learns. Throws where the scenario is refused or takes more than the limits
// allow where `at_once` of them run.
SimulatedCell simulate_cell(const SweepCell& cell, const Limits& limits, int at_once, bool may_wait,
                            const std::function<void(const CurvePoint&)>& evaluated);

// The runs of a cell come to this result; the trace is of the first. `inputs`: fingerprint of its
// files.
Result result_of(const Setup& setup, const Trace& trace, const std::vector<Figures>& other_runs,
                 const std::string& inputs);

}  // namespace syncline

// One cell, from its scenario to its result and its files: the table of contents of the program.
#pragma once

#include <functional>
#include <optional>

#include "sim/learned.h"
#include "sim/result.h"
#include "sim/sweep/limits.h"
#include "sim/sweep/sweep_cell.h"

namespace syncline {

struct SimulatedCell {
  std::optional<Result> result;
  // Estimated seconds of a long cell that was not simulated because it may wait; there is then no
  // result.
  double waits_s = 0;
  // Why its files could not be written: those of other cells could not either.
  std::string not_written;
};

// Call it in a process of its own: SimGrid allows one engine per process. `evaluated` is called
// during a run that learns. Throws if the scenario is refused, or takes more than the limits allow
// where `at_once` cells run at a time.
SimulatedCell simulate_cell(const SweepCell& cell, const Limits& limits, int at_once, bool may_wait,
                            const std::function<void(const CurvePoint&)>& evaluated);

// The result of a cell's runs; the trace is of the first run. `inputs`: fingerprint of the cell's
// files.
Result result_of(const Setup& setup, const Trace& trace, const std::vector<Figures>& other_runs,
                 const std::string& inputs);

}  // namespace syncline

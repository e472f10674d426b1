// Figures from a trace: a pure function, without the engine, so a new figure needs no new
// simulation.
#pragma once

#include "sim/report/worker_rows.h"
#include "sim/result.h"
#include "sim/scenario.h"
#include "sim/trace.h"

namespace syncline {

// Whether the halves of the window differ by more than 3 %; a warning then says so.
bool is_unsteady(const Figures& figures);
Warning unsteady_warning(const Figures& figures);
// Whether a result may win: its throughput is steady and so is known, and it fits into memory.
bool can_win(const Figures& figures);

// By how much throughput of flows may differ from throughput of steps, as a part of it; the second
// with the warning doubted_flows (law 26).
constexpr double error_of_flows = 0.03;
constexpr double error_of_doubted_flows = 0.07;

// All figures that follow from the trace.
Figures figures_of(const Trace& trace, const TraceByWorker& by_worker, int batch);
Figures figures_of(const Trace& trace, int batch);

// Adds the staleness of gradients that servers applied in the window, part by part (bucket and
// server). Staleness counts what was applied to the same part between the reading of the parameters
// and the applying of the gradient computed from them. It is counted in three units. In gradients
// of single workers schedules can be compared. In updates, one of `inhad` adds many gradients, one
// of other schedules adds one. In iterations, SSP's clocks, it is the gradient's iteration less the
// iterations that its parameters had from the worker with the fewest.
void add_staleness(const Trace& trace, Figures& figures);

// Adds the figures and the warnings of a run that learns.
void add_learned(const Learned& learned, Figures& figures);

// Adds the seconds and the cost of an epoch at this throughput.
void add_epoch(const Scenario& scenario, Figures& figures);

}  // namespace syncline

// Figures from a trace: a pure function, without the engine, so a new figure needs no new
// simulation.
#pragma once

#include "sim/report/worker_rows.h"
#include "sim/result.h"
#include "sim/scenario.h"
#include "sim/trace.h"

namespace syncline {

// Whether the halves of the window differ by more than 3 %, as a warning then says.
bool is_unsteady(const Figures& figures);
// Whether it may be the best of several: it is known how fast it is, and it fits into memory.
bool can_win(const Figures& figures);

// Throughput of flows is so near that of steps; where this warning is, so near (law 26).
constexpr double error_of_flows = 0.03;
constexpr double error_of_doubted_flows = 0.07;

// These are all figures but what an epoch takes and costs.
Figures figures_of(const Trace& trace, const TraceByWorker& by_worker, int batch);
Figures figures_of(const Trace& trace, int batch);

// Adds the staleness of gradients that servers applied in the window, part by part (bucket and
// server). Between reading parameters and applying the gradient computed from them, others are
// applied to the same part. They are counted as gradients of single workers, which schedules can be
// compared by; as updates, of which one of `inhad` adds many gradients, one of others one; and as
// iterations, SSP's clocks: the gradient's iteration less the iterations that its parameters had
// from the worker of which they had fewest.
void add_staleness(const Trace& trace, Figures& figures);

// Adds the figures of a run that learns, and a warning where it diverged.
void add_learned(const Learned& learned, Figures& figures);

// Adds what an epoch takes and costs at this throughput.
void add_epoch(const Scenario& scenario, Figures& figures);

}  // namespace syncline

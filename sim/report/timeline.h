// One or a few iterations as a picture: what each rank did when. A pure function of the trace,
// small enough to be kept with each result.
#pragma once

#include "sim/report/worker_rows.h"
#include "sim/result.h"
#include "sim/trace.h"

namespace syncline {

// A stretch of one or a few iterations in which time is spent as in the whole window (typical.h).
// It shows up to eight workers, among them the slowest, and up to eight servers and nodes. The
// compute track of a worker that stands still has a slice `wait`.
//
// Slices that are too short to be seen are merged: slices of one verb below 1/2000 of the stretch
// and then, until 1,500 slices are left, all short slices, as `several`. Messages that overlap are
// merged, too, if a rank has more of them than lanes: 16 for all servers and nodes, at least two
// for each. A merged slice is as long as all its slices were; gaps that cannot be seen are left
// out. Times are rounded to a millionth of the stretch or less.
Timeline timeline_of(const Trace& trace, const TraceByWorker& by_worker);
Timeline timeline_of(const Trace& trace);

// The last iteration that every worker has begun at the middle of the window.
int iteration_in_the_middle(const Trace& trace);

}  // namespace syncline

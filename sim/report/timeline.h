// An iteration as a picture: who did what when. A pure function of the trace, small enough to be
// kept with each result.
#pragma once

#include "sim/report/worker_rows.h"
#include "sim/result.h"
#include "sim/trace.h"

namespace syncline {

// A stretch of the window whose time goes where that of the whole window goes, of one iteration or
// of a few, of up to eight workers, among them the slowest (typical.h), and of up to eight servers
// and nodes. The compute track of a worker that stands still has a slice `wait`.
//
// Slices that are too short to be seen are merged: slices of one verb below 1/2000 of the iteration
// and, until 1,500 slices are left, whatever is short, as `several`. So are messages that overlap,
// where a rank has more of them than its lanes: 16 for all servers and nodes, at least two for
// each. Slices that are merged are as long as all of them were; gaps that cannot be seen are left
// out. Times are rounded to a millionth of the iteration or less.
Timeline timeline_of(const Trace& trace, const TraceByWorker& by_worker);
Timeline timeline_of(const Trace& trace);

// The last iteration in which every worker is at the middle of the window, or was before it.
int iteration_in_the_middle(const Trace& trace);

}  // namespace syncline

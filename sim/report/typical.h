// The part of a run that is typical of it, for a picture that agrees with the figures.
#pragma once

#include <vector>

#include "sim/report/worker_rows.h"

namespace syncline {

// A stretch of whole iterations, and the workers to show.
struct Typical {
  double from_s = 0;
  double to_s = 0;
  std::vector<int> workers;
};

// The fewest consecutive iterations of the slowest worker that divide their time between
// computation, compression, exposed communication and waiting as the whole window does, within 2 %
// of it. Of all stretches of that length it is the nearest, or the one in the middle if several are
// as near. It has at most eight iterations, or a round; if none is within 2 %, it is the nearest of
// all, or, if none is within 5 % and the window is short, the whole window. If the slowest worker
// takes more than four times as long as the fastest, it has four iterations or more of the fastest.
//
// Of more than `most_workers`, some are shown, spread over all, with the slowest worker of the
// window and that of the stretch. The slowest is the worker that waits least for others.
Typical typical_of(const Trace& trace, const std::vector<WorkerRows>& workers,
                   std::size_t most_workers);

}  // namespace syncline

// Which part of a run is typical of it: for a picture that agrees with the figures.
#pragma once

#include <vector>

#include "sim/report/worker_rows.h"

namespace syncline {

// A stretch of whole iterations, and workers.
struct Typical {
  double from_s = 0;
  double to_s = 0;
  std::vector<int> workers;
};

// As few iterations of the slowest worker, one after the other, as spend their time on computation,
// compression, exposed communication and waiting like the whole window, within 2 % of it: the
// nearest of all that long, in the middle if several are. No more than eight, or a round; nearest
// then. If the slowest takes more than four times as long as the fastest, it is four iterations or
// more of the fastest.
//
// Of more than `most_workers`, some are spread over all, with the slowest of the window and that of
// the stretch. The slowest waits least for others.
Typical typical_of(const Trace& trace, const std::vector<WorkerRows>& workers,
                   std::size_t most_workers);

}  // namespace syncline

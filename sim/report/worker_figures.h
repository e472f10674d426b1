// The table of workers of a result.
#pragma once

#include <vector>

#include "sim/report/worker_rows.h"
#include "sim/result.h"
#include "sim/trace.h"

namespace syncline {

// Adds it, and a warning where some do far more iterations than others: throughput counts them all.
void add_workers(const Trace& trace, const std::vector<WorkerRows>& workers,
                 const std::vector<SpentSeconds>& spent, Figures& figures);

}  // namespace syncline

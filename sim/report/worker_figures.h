// The table of workers of a result.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/report/worker_rows.h"
#include "sim/result.h"
#include "sim/trace.h"

namespace syncline {

// A table of more rows keeps this number of rows, evenly spread, and the row of the worker that
// computes longest.
constexpr std::size_t most_worker_rows = 4096;

// Adds the table, and a warning if some workers do far more iterations than others: throughput
// counts all of them.
void add_workers(const Trace& trace, const std::vector<WorkerRows>& workers,
                 const std::vector<SpentSeconds>& spent, Figures& figures);

}  // namespace syncline

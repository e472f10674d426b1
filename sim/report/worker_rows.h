// The rows of a trace by worker: its iterations, its computation, what it stood still for.
#pragma once

#include <vector>

#include "sim/trace.h"
#include "sim/window.h"

namespace syncline {

struct Interval {
  double start_s;
  double end_s;
};

// The part of the trace that one worker has.
struct WorkerRows {
  std::vector<Interval> iterations;   // from forward to step
  std::vector<bool> measured;         // by iteration: whether it is one of those that are described
  double described = 0;               // how many these are,
  double described_s = 0;             // and their seconds
  std::vector<Interval> blocked;      // its compute stream waited, in these
  std::vector<Interval> moving;       // its bytes were moving
  std::vector<Interval> compression;  // it compressed on another stream
  std::vector<Interval> computing;    // forward and backward, in these
  double compute_s = 0;               // the same
  std::vector<double> alone_s;  // by iteration: its computation without what it would hide alone
  double compress_s = 0;
  double all_compute_s = 0;  // of the whole run
};

std::vector<WorkerRows> by_worker(const Trace& trace, const MeasuredWindow& measured);

// Seconds of `blocked` in which at least one of `moving` was active.
double overlap_s(const std::vector<Interval>& blocked, std::vector<Interval> moving);

// Computation and compression each had half of the core while both ran.
void split_shared_core_time(WorkerRows& worker);

// Iterations/s that a worker would reach alone: those of the window, cut ones in part, in the
// seconds of their own computation.
double alone_per_s(const WorkerRows& worker, const Progress& progress, const Window& window);

}  // namespace syncline

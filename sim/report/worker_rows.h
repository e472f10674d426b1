// The rows of a trace by worker: its iterations, its computation, and what it stood still for.
#pragma once

#include <vector>

#include "sim/report/intervals.h"
#include "sim/trace.h"
#include "sim/window.h"

namespace syncline {

// What happens beside a worker's compute stream, in the whole run: disjoint intervals in order.
struct BesideComputing {
  std::vector<Interval> moving;       // bytes of the worker, or of its node's aggregator, move
  std::vector<Interval> compression;  // the worker compresses on another stream
};

// One worker's part of the trace.
struct WorkerRows {
  std::vector<Interval> iterations;   // from forward to step, or to the end of the wait after it
  double counted = 0;                 // iterations that count in the window
  double window_s = 0;                // seconds of the window
  std::vector<Interval> blocked;      // in the window, the compute stream had nothing to do
  std::vector<Interval> computing;    // in the window: forward, backward and the step
  std::vector<Interval> compressing;  // in the window, on the compute stream
  double compute_s = 0;               // of `computing`
  double again_s = 0;                 // of `computing`: what backward computes again
  double compress_s = 0;              // of `compressing`
  double all_compute_s = 0;           // of computation, in the whole run
  BesideComputing beside;
};

// Built once from the rows; figures and timelines are made from it.
struct TraceByWorker {
  explicit TraceByWorker(const Trace& trace);

  std::vector<Progress> progress;
  MeasuredWindow measured;
  std::vector<WorkerRows> workers;
};

// How a worker's seconds in the window are spent: they add up to `window_s`.
struct SpentSeconds {
  double compute_s = 0;
  // On the compute stream, or elsewhere while the compute stream stands still.
  double compress_s = 0;
  double exposed_s = 0;  // the worker stands still while bytes move
  double waiting_s = 0;  // the worker stands still while none move
};

// With `one_core`, computation and compression each had half of the core while both ran.
SpentSeconds spent_by(const WorkerRows& worker, bool one_core);

}  // namespace syncline

// The rows of a trace by worker: its iterations, its computation, what it stood still for.
#pragma once

#include <vector>

#include "sim/report/intervals.h"
#include "sim/trace.h"
#include "sim/window.h"

namespace syncline {

// What goes on beside a worker's compute stream, in the whole run: disjoint intervals in order.
struct BesideComputing {
  std::vector<Interval> moving;       // its bytes move, or those of its node's aggregator
  std::vector<Interval> compression;  // it compresses on another stream
};

// The part of the trace that one worker has.
struct WorkerRows {
  std::vector<Interval> iterations;   // from forward to step, or to what it waits for then
  double counted = 0;                 // iterations that count in the window,
  double window_s = 0;                // and its seconds of the window
  std::vector<Interval> blocked;      // its compute stream had nothing to do, in the window
  std::vector<Interval> computing;    // forward, backward and the step, likewise
  std::vector<Interval> compressing;  // on the compute stream, likewise
  double compute_s = 0;               // the same
  double again_s = 0;                 // of these: what backward computes once more
  double compress_s = 0;              // likewise
  double all_compute_s = 0;           // of the whole run
  BesideComputing beside;
};

// Read once from the rows: figures and timelines are made of it.
struct TraceByWorker {
  explicit TraceByWorker(const Trace& trace);

  std::vector<Progress> progress;
  MeasuredWindow measured;
  std::vector<WorkerRows> workers;
};

// Where a worker's seconds in the window go: they add up to `window_s`.
struct SpentSeconds {
  double compute_s = 0;
  double compress_s = 0;  // on the compute stream, or elsewhere while that stands still
  double exposed_s = 0;   // it stands still while bytes move
  double waiting_s = 0;   // and while none do
};

// With `one_core`, computation and compression each had half of it while both ran.
SpentSeconds spent_by(const WorkerRows& worker, bool one_core);

}  // namespace syncline

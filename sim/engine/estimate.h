// Estimates what a simulation needs of the machine that it runs on, before it runs.
#pragma once

#include "sim/setup/setup.h"

namespace syncline {

struct Need {
  double iterations = 0;   // per worker
  double flows = 0;        // messages on the network
  double evaluations = 0;  // of the learned model, over all samples
  double seconds = 0;      // of one core
  double memory_bytes = 0;
  double trace_bytes = 0;  // on disk, if the trace is written
};

struct Estimate {
  // The runs of a cell, made one after another. `flows` and `seconds` of a Need cover all of them;
  // its other numbers are of one run.
  int runs = 1;
  Need least;
  Need most;  // differs from `least` only with `iterations = auto`
};

// Approximate size of the files of a trace with this many rows and messages.
double trace_bytes_of(double rows, double messages);

// Seconds and memory are right within a factor of two, on the machine of experiments/scale. Where
// the runs that random variation calls for would take more than `most_seconds`, the estimate has
// fewer runs.
constexpr double most_seconds_of_a_cell = 3600;
Estimate estimate(const Setup& setup, double most_seconds = most_seconds_of_a_cell);

}  // namespace syncline

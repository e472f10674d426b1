// An estimate says what a simulation will take of the machine that it runs on, before it is built.
#pragma once

#include "sim/setup/setup.h"

namespace syncline {

struct Need {
  double iterations = 0;   // of each worker
  double flows = 0;        // messages on the network
  double evaluations = 0;  // of what is learned, over all samples
  double seconds = 0;      // of one core
  double memory_bytes = 0;
  double trace_bytes = 0;  // on disk, if the trace is written
};

struct Estimate {
  int runs = 1;  // of which needs count all, one after another; iterations are those of one
  Need least;
  Need most;  // the same, but for `iterations = auto`: then the run decides
};

// The files of a trace with so many rows and messages have about so many bytes.
double trace_bytes_of(double rows, double messages);

// Seconds and memory are right within a factor of two, on the machine of experiments/scale. There
// are fewer runs than chance needs where these would take more than so many seconds.
constexpr double most_seconds_of_a_cell = 3600;
Estimate estimate(const Setup& setup, double most_seconds = most_seconds_of_a_cell);

}  // namespace syncline

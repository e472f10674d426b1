// An estimate says what a simulation will take of the machine that it runs on, before it is built.
#pragma once

#include "sim/setup/setup.h"

namespace syncline {

struct Need {
  double iterations = 0;  // of each worker
  double flows = 0;       // messages on the network
  double seconds = 0;     // of one core
  double memory_bytes = 0;
};

struct Estimate {
  int runs = 1;  // of which needs count all, one after another; iterations are those of one
  Need least;
  Need most;  // the same, but for `iterations = auto`: then the run decides
};

// Seconds and memory are right within a factor of three, on the machine of experiments/scale.
Estimate estimate(const Setup& setup);

}  // namespace syncline

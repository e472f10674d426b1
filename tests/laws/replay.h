// What a run that learns must come to, computed again from the order of events in its trace: the
// rules of learning written a second time, plainly, without the engine and without sim/learning/
// (but for the choice of samples).
#pragma once

#include <vector>

#include "tests/laws/simulated.h"

namespace syncline {

struct Replayed {
  std::vector<float> initial;
  std::vector<float> parameters;  // of the servers, or of all workers
  // Of all gradients (weighed before, with rate-in-residual) that were put into messages, and of
  // what messages have left out.
  std::vector<double> gradients;
  std::vector<double> unsent;
  std::vector<double> lost;  // by merges of gtopk
  // With pull = compressed: how far what a worker holds and what it has not been sent yet are, at
  // most, from the servers' parameters when they last answered.
  double farthest = 0;
};

// Exchanges: those that add up gradients as they are, `allgather`, and with topk `gtopk` and
// `oktopk`.
Replayed replayed(const Options& options, const Trace& trace);

}  // namespace syncline

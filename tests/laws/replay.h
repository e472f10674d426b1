// Computes the result of a learning run again from the order of events in its trace: the rules of
// learning in a second, plain implementation, without the engine and without sim/learning/ (except
// for the choice of samples).
#pragma once

#include <vector>

#include "tests/laws/simulated.h"

namespace syncline {

struct Replayed {
  std::vector<float> initial;
  std::vector<float> parameters;  // of the servers, or of all workers
  // Sums of all gradients that were put into messages (after weighting, with rate-in-residual), and
  // of what messages have left out.
  std::vector<double> gradients;
  std::vector<double> unsent;
  std::vector<double> lost;  // by merges of gtopk
  // Where workers have parameters of their own: these, and the sum of all their own steps.
  std::vector<std::vector<float>> own;
  std::vector<double> moved;
  // With pull = compressed: the largest distance between the servers' parameters at their last
  // answer and the sum of what a worker holds and what has not been sent to it yet.
  double farthest = 0;
};

// Supports exchanges that add gradients as they are, `allgather`, and with topk `gtopk` and
// `oktopk`.
Replayed replayed(const Options& options, const Trace& trace);

}  // namespace syncline

// How much longer computation takes where all workers wait for the slowest of them, in the mean.
// The option `straggling` takes this instead of the draws of `jitter`.
#pragma once

#include <vector>

#include "sim/plan.h"
#include "sim/scenario.h"

namespace syncline {

// A log-normal time.
struct VaryingTime {
  double mean_s = 0;
  double variation = 0;  // coefficient of variation

  bool operator==(const VaryingTime&) const = default;
};

// The longest of independent times, from the integral of its distribution: mean and coefficient of
// variation are within 1e-4 of exact ones.
VaryingTime longest_of(const std::vector<VaryingTime>& times);

// Seconds of a worker without variation: forward and backward, and the step that follows averages.
struct ComputedIteration {
  double passes_s = 0, step_s = 0;
};

// How many times as long computation takes until the slowest worker has it, in the mean. A step and
// the passes that follow it are of two iterations, which vary independently; workers that hold
// shards together also wait for each other between the two. Workers that average after k iterations
// vary by `straggling` / sqrt(k); replicas of workers, first within, then as a whole. An average
// that arrives d iterations later lets replicas get so far ahead, and hides most.
double straggling_factor(const Scenario& scenario, const Topology& topology,
                         const std::vector<ComputedIteration>& iterations);

}  // namespace syncline

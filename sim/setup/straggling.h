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

// The mean time until the slowest worker has computed, over the time that the slowest host takes
// without variation. `compute_s`: of each worker in an iteration. Workers that average after k
// iterations vary by `straggling` / sqrt(k); replicas of workers, first within, then as a whole.
double straggling_factor(const Scenario& scenario, const Topology& topology,
                         const std::vector<double>& compute_s);

}  // namespace syncline

// Seconds of computation, from what is known: the option `throughput`, else a measured row of
// models/throughput.csv, else `efficiency` times the host's peak speed. Never a silent zero.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/cluster.h"
#include "sim/model.h"
#include "sim/scenario.h"

namespace syncline {

struct ComputeTimes {
  std::vector<double> solo_s;  // of each worker: one iteration alone, forward and backward
  std::string source;          // where the figures come from, for the result
};

// Throws std::runtime_error that lists the rows there are when nothing says how long it takes.
ComputeTimes compute_times(const Scenario& scenario, const Model& model, const Cluster& cluster);

// A factor with mean 1 and this coefficient of variation, log-normal: compute times are positive
// and skewed. Counter-based: the same (seed, rank, iteration) gives the same factor, in any order.
double jitter_factor(double coefficient, std::uint64_t seed, int rank, int iteration);

}  // namespace syncline

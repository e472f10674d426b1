// Seconds of computation, from the first source available: the option `throughput`, else the times
// in the model's file, else a measured row of models/throughput.csv, else `efficiency` times the
// host's peak speed. Never a silent zero.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario.h"
#include "sim/setup/model.h"
#include "sim/traffic/cluster.h"

namespace syncline {

struct ComputeTimes {
  struct OfWorker {
    double micro_step_s = 0;  // computation
    // The optimiser's step, which follows communication; 0 where servers apply the gradients, or
    // where nothing is known of it but that it is in a measured throughput.
    double step_s = 0;
  };
  std::vector<OfWorker> of_worker;
  // What scaling is measured by: one iteration alone, with the step of all parameters wherever the
  // schedule has it taken, and nothing computed again.
  std::vector<double> alone_s;
  int micro_steps = 1;
  // Software takes this before the step: a worker alone hides it, because its host runs ahead of
  // its device; others wait for communication first.
  double launch_s = 0;
  // Parts of a micro-step: the backward pass costs twice the forward pass, unless the model's file
  // has times; and what backward computes once more of the forward pass.
  double forward_part = 1.0 / 3;
  double backward_part = 2.0 / 3;
  double again_part = 0;
  double model_flop = 0;  // forward, per sample: seconds are split over layers by flop
  double again_flop = 0;  // of it, what backward computes once more
  std::string source;     // where the seconds come from, for the result

  double micro_step_s(int worker) const { return of_worker[index(worker)].micro_step_s; }
  double step_s(int worker) const { return of_worker[index(worker)].step_s; }
  // One iteration alone, with its optimiser's step.
  double solo_s(int worker) const { return micro_steps * micro_step_s(worker) + step_s(worker); }
  double longest_solo_s() const;
  // These are of one micro-step.
  double forward_s(int worker) const { return micro_step_s(worker) * forward_part; }
  double forward_s(int worker, double forward_flop) const;  // of layers with so much flop
  double backward_s(int worker) const {
    return micro_step_s(worker) * (backward_part + again_part);
  }
  double backward_s(int worker, const Bucket& bucket) const;  // of its layers
  // From the first micro-step's backward pass to the last one's forward pass.
  double accumulate_s(int worker) const { return micro_step_s(worker) * (micro_steps - 1); }
  double before_backward_s(int worker) const { return forward_s(worker) + accumulate_s(worker); }
  // The part of the bucket's backward that computes forward once more.
  double again_in_backward(const Bucket& bucket) const;

 private:
  double again_part_of(const Bucket& bucket) const {
    return again_flop > 0 ? again_part * bucket.again_flop / again_flop : 0;
  }
  double backward_part_of(const Bucket& bucket) const {
    return backward_part * bucket.forward_flop / model_flop + again_part_of(bucket);
  }
};

// Throws std::runtime_error that lists the rows that exist, if no source is available; or if the
// optimiser's step would take longer than the measured iteration that it is a part of.
ComputeTimes compute_times(const Scenario& scenario, const Model& model, const Cluster& cluster);

// A factor with mean 1 and this coefficient of variation, log-normal: compute times are positive
// and skewed. Counter-based: the same (seed, rank, iteration) gives the same factor, in any order.
double jitter_factor(double coefficient, std::uint64_t seed, int rank, int iteration);

}  // namespace syncline

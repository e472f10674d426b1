// Seconds of computation, from the first available source: the option `throughput`, else the times
// in the model's file, else a measured row of models/throughput.csv, else `efficiency` times a
// peak: in fp32 the host's speed, else the peak of its device. If there is no source, it is an
// error, never a silent zero.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/scenario.h"
#include "sim/setup/model.h"
#include "sim/traffic/cluster.h"

namespace syncline {

struct ComputeTimes {
  struct OfWorker {
    double micro_step_s = 0;  // of computation
    // The optimiser's step, which follows communication. 0 if servers apply the gradients, or if
    // the step is only known to be part of a measured throughput.
    double step_s = 0;
  };
  std::vector<OfWorker> of_worker;
  // The reference for scaling: one iteration alone, with the step of all parameters whatever the
  // schedule is, and without recomputation.
  std::vector<double> alone_s;
  double together_part = 0;  // see together_part()
  int micro_steps = 1;
  // Software's time before the step. A worker alone hides it, because its host runs ahead of its
  // device; with several workers, hosts wait for communication first.
  double launch_s = 0;
  // Fractions of a micro-step. The backward pass costs twice the forward pass, unless the model's
  // file has times. again_part: the forward computation that backward repeats.
  double forward_part = 1.0 / 3;
  double backward_part = 2.0 / 3;
  double again_part = 0;
  double model_flop = 0;  // forward, per sample: seconds are split over layers by flop
  double again_flop = 0;  // the part of model_flop that backward repeats
  std::string source;     // where the seconds come from, for the result

  double micro_step_s(int worker) const { return of_worker[index(worker)].micro_step_s; }
  double step_s(int worker) const { return of_worker[index(worker)].step_s; }
  double together_s(int worker) const { return together_part * step_s(worker); }
  // One iteration alone, with its optimiser's step.
  double solo_s(int worker) const { return micro_steps * micro_step_s(worker) + step_s(worker); }
  double longest_solo_s() const;
  // The next functions are for one micro-step.
  double forward_s(int worker) const { return micro_step_s(worker) * forward_part; }
  double forward_s(int worker, double forward_flop) const;  // of layers with this flop
  double backward_s(int worker) const {
    return micro_step_s(worker) * (backward_part + again_part);
  }
  double backward_s(int worker, const Bucket& bucket) const;  // of the bucket's layers
  // From the first micro-step's backward pass to the last one's forward pass.
  double accumulate_s(int worker) const { return micro_step_s(worker) * (micro_steps - 1); }
  double before_backward_s(int worker) const { return forward_s(worker) + accumulate_s(worker); }
  // Fraction of the bucket's backward that repeats forward computation.
  double again_in_backward(const Bucket& bucket) const;

 private:
  double again_part_of(const Bucket& bucket) const {
    return again_flop > 0 ? again_part * bucket.again_flop / again_flop : 0;
  }
  double backward_part_of(const Bucket& bucket) const {
    return backward_part * bucket.forward_flop / model_flop + again_part_of(bucket);
  }
};

// Seconds of applying an average of parameters, relative to the optimiser's step: by the values
// that both read and write for each parameter.
double together_part(const Scenario& scenario);

// Throws std::runtime_error if no source is available (the error lists the rows that exist), or if
// the optimiser's step would take longer than the measured iteration that contains it.
// `speeds`: mean factors of hosts' profiles, by name.
ComputeTimes compute_times(const Scenario& scenario, const Model& model, const Cluster& cluster,
                           const std::map<std::string, double>& speeds = {});

// A log-normal factor with mean 1 and this coefficient of variation, because compute times are
// positive and skewed. Counter-based: the same (seed, rank, iteration) always gives the same
// factor, in any order of calls.
double jitter_factor(double coefficient, std::uint64_t seed, int rank, int iteration);

}  // namespace syncline

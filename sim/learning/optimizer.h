// Parameters, and how sums of gradients change them: stochastic gradient descent with momentum and
// weight decay, as PyTorch's SGD does it.
#pragma once

#include <span>
#include <vector>

#include "sim/learning/ranges.h"
#include "sim/scenario.h"

namespace syncline {

// The learning rate of a run.
class Rate {
 public:
  // `run_samples`: of the longest run that there can be.
  Rate(const Learning& learning, int workers, double epoch_samples, double run_samples);

  // Epochs of warm-up count `samples`, which were applied; the schedule counts those that were
  // dropped, too.
  double at(double samples, double with_dropped) const;

 private:
  Learning::RateSchedule schedule_;
  double rate_;
  double first_;  // where warm-up begins
  double warm_up_samples_;
  double run_samples_;
};

class Optimizer {
 public:
  Optimizer(const Learning& learning, std::span<const float> initial);

  const std::vector<float>& parameters() const { return parameters_; }
  void set(const std::vector<float>& parameters) { parameters_ = parameters; }
  // In this range gradients come with their momentum.
  void leave_momentum(const Range& range) { without_momentum_.push_back(range); }
  // v = momentum * v + (sum + gradients * decay * w), w -= weight * v, for this range, of which
  // `sum` has `gradients` gradients.
  void apply(const Range& range, std::span<const float> sum, double gradients, double weight);
  // Applies gradients that were weighed before they were sent: the decay is weighed here.
  void apply_weighed(const Range& range, std::span<const float> sum, double gradients,
                     double weight);

 private:
  void apply(const Range& range, std::span<const float> sum, float decay, float weight);

  float momentum_;
  double decay_;
  std::vector<float> parameters_;
  std::vector<float> velocity_;  // empty without momentum
  std::vector<Range> without_momentum_;
};

}  // namespace syncline

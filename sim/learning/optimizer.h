// Parameters, and their updates by sums of gradients: stochastic gradient descent with momentum and
// weight decay, like PyTorch's SGD.
#pragma once

#include <span>
#include <vector>

#include "sim/learning/ranges.h"
#include "sim/scenario.h"

namespace syncline {

// The learning rate of a run.
class Rate {
 public:
  // `run_samples`: the samples of the longest possible run.
  Rate(const Learning& learning, int workers, double epoch_samples, double run_samples);

  // Warm-up counts the applied `samples`; the schedule also counts dropped ones.
  double at(double samples, double with_dropped) const;

 private:
  Learning::RateSchedule schedule_;
  double rate_;
  double first_;  // at the beginning of warm-up
  double warm_up_samples_;
  double run_samples_;
};

class Optimizer {
 public:
  Optimizer(const Learning& learning, std::span<const float> initial);

  const std::vector<float>& parameters() const { return parameters_; }
  void set(const std::vector<float>& parameters) { parameters_ = parameters; }
  // Adds `sign` (1 or -1) times these values to the parameters in this range.
  void add(const Range& range, std::span<const float> values, float sign);
  // In this range gradients already contain their momentum.
  void leave_momentum(const Range& range) { without_momentum_.push_back(range); }
  // v = momentum * v + (sum + gradients * decay * w), w -= weight * v, for this range. `sum` is a
  // sum of `gradients` gradients.
  void apply(const Range& range, std::span<const float> sum, double gradients, double weight);
  // Applies gradients that were weighted before they were sent; only the decay is weighted here.
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

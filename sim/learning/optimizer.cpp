#include "sim/learning/optimizer.h"

#include <algorithm>

#include "kernels/elementary.h"

namespace syncline {

Rate::Rate(const Learning& learning, int workers, double epoch_samples, double run_samples)
    : schedule_(learning.rate_schedule),
      rate_(learning.rate),
      first_(learning.rate / workers),
      warm_up_samples_(learning.rate_warm_up_epochs * epoch_samples),
      run_samples_(run_samples) {}

double Rate::at(double samples, double with_dropped) const {
  if (samples < warm_up_samples_)
    return first_ + (rate_ - first_) * samples / warm_up_samples_;
  const double done = std::min(with_dropped / run_samples_, 1.0);
  switch (schedule_) {
    case Learning::RateSchedule::step:
      return done < 0.5 ? rate_ : done < 0.75 ? 0.1 * rate_ : 0.01 * rate_;
    case Learning::RateSchedule::cosine:
      return rate_ * (1 + steady_turn(done / 2).cosine) / 2;
    case Learning::RateSchedule::constant:
      break;
  }
  return rate_;
}

Optimizer::Optimizer(const Learning& learning, std::span<const float> initial)
    : momentum_(static_cast<float>(learning.momentum)),
      decay_(learning.weight_decay),
      parameters_(initial.begin(), initial.end()),
      velocity_(learning.momentum > 0 ? initial.size() : 0) {}

void Optimizer::add(const Range& range, std::span<const float> values, float sign) {
  for (std::size_t i = 0; i < range.size(); ++i)
    parameters_[range.begin + i] += sign * values[i];
}

void Optimizer::apply(const Range& range, std::span<const float> sum, double gradients,
                      double weight) {
  apply(range, sum, static_cast<float>(gradients * decay_), static_cast<float>(weight));
}

void Optimizer::apply_weighed(const Range& range, std::span<const float> sum, double gradients,
                              double weight) {
  apply(range, sum, static_cast<float>(gradients * decay_ * weight), 1.0f);
}

void Optimizer::apply(const Range& range, std::span<const float> sum, float decay, float weight) {
  float* w = parameters_.data() + range.begin;
  if (velocity_.empty()) {
    for (std::size_t i = 0; i < range.size(); ++i)
      w[i] -= weight * (decay == 0 ? sum[i] : sum[i] + decay * w[i]);
    return;
  }
  for (const Range& one : without_momentum_) {
    const Range both = overlap(one, range);
    std::fill(velocity_.begin() + static_cast<std::ptrdiff_t>(both.begin),
              velocity_.begin() + static_cast<std::ptrdiff_t>(both.end), 0.0f);
  }
  float* v = velocity_.data() + range.begin;
  for (std::size_t i = 0; i < range.size(); ++i) {
    v[i] = momentum_ * v[i] + (sum[i] + decay * w[i]);
    w[i] -= weight * v[i];
  }
}

}  // namespace syncline

// The decision of CAT (Khirirat, Magnusson, Aytekin, Johansson, arXiv 2003.06377; algorithms.md 5):
// how many elements T to send, so that the guaranteed improvement per communicated bit is largest.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "kernels/arithmetic/moments.h"

namespace syncline {

struct CatCost {  // C(T), for the technology at hand
  std::string model;
  double packet_cost = 0, packet_bits = 1, fixed_cost = 0;

  double of(double payload_bits) const {
    if (model == "payload")
      return payload_bits;
    const double packets = payload_bits / packet_bits;
    return packet_cost * (model == "packet" ? std::ceil(packets) : packets) + fixed_cost;
  }
};

struct CatRule {
  std::string name;         // sparsify, sign or stochastic
  double element_bits = 0;  // of one index and value
  double message_bits = 0;  // once per message
  std::size_t step = 1;     // T is a multiple of this: a packet's worth of elements
  CatCost cost;
};

// Walks T upward over magnitudes in descending order, and stops when the improvement per cost first
// drops (as the public implementation does): both alpha(T) and the costs make one peak. Feed it
// with `next`; `finished` once T is known.
class CatWalk {
 public:
  CatWalk(const CatRule& rule, const Moments& total, std::size_t elements)
      : rule_(rule), total_(total), elements_(elements) {}

  // The element of the next rank; after the last one, finish().
  void next(double magnitude) {
    if (finished_)
      return;
    sorted_.push_back(magnitude);
    sum_ += magnitude;
    squares_ += magnitude * magnitude;
    if (sorted_.size() % rule_.step == 0 || sorted_.size() == elements_)
      judge();
  }

  bool finished() const { return finished_ || sorted_.size() == elements_; }
  std::size_t best() const { return best_; }
  double best_sum() const { return best_sum_; }  // of the best T magnitudes

  // Stochastic rule: keep element j with probability min(1, |g_j| / unit()); the `saturated`
  // largest are certain, the others share what is left of T.
  double unit() const { return best_unit_; }

 private:
  void judge() {
    const double count = static_cast<double>(sorted_.size());
    const double payload = count * rule_.element_bits + rule_.message_bits;
    double unit = 0;
    const double ratio = improvement(count, unit) / rule_.cost.of(payload);
    if (!(ratio > best_ratio_) && best_ > 0) {
      finished_ = true;
      return;
    }
    best_ratio_ = ratio;
    best_ = sorted_.size();
    best_sum_ = sum_;
    best_unit_ = unit;
  }

  // alpha(T), beta(T) or omega(T), each times what does not depend on T.
  double improvement(double count, double& unit) {
    if (rule_.name == "sparsify")
      return squares_;
    if (rule_.name == "sign")
      return sum_ * sum_ / count;
    while (saturated_ < sorted_.size() &&
           (count - static_cast<double>(saturated_)) * sorted_[saturated_] >= tail()) {
      certain_sum_ += sorted_[saturated_];
      certain_squares_ += sorted_[saturated_] * sorted_[saturated_];
      ++saturated_;
    }
    const double shared = count - static_cast<double>(saturated_);
    unit = shared > 0 ? tail() / shared : 0;
    const double spread = certain_squares_ + (shared > 0 ? tail() * tail() / shared : 0);
    return spread > 0 ? 1 / spread : 0;
  }

  double tail() const { return std::max(total_.absolute - certain_sum_, 0.0); }

  CatRule rule_;
  Moments total_;
  std::size_t elements_ = 0;
  std::vector<double> sorted_;
  double sum_ = 0, squares_ = 0, certain_sum_ = 0, certain_squares_ = 0;
  std::size_t saturated_ = 0, best_ = 0;
  double best_ratio_ = 0, best_sum_ = 0, best_unit_ = 0;
  bool finished_ = false;
};

}  // namespace syncline

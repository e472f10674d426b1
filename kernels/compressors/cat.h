// CAT's decision (Khirirat, Magnusson, Aytekin, Johansson, arXiv 2003.06377): the number T of
// elements to send for the largest guaranteed improvement per communicated bit. CPU and GPU share
// this code: the walk is a chain of additions in double, whose order decides where it ends.
#pragma once

#include <algorithm>
#include <bit>

#include "kernels/arithmetic/feedback.h"
#include "kernels/arithmetic/moments.h"

namespace syncline::cat {

enum class Rule { sparsify, sign, stochastic };
enum class Cost { payload, affine, packet };

struct Terms {
  Rule rule = Rule::sparsify;
  Cost cost = Cost::packet;
  double packet_cost = 0, packet_bits = 1, fixed_cost = 0;
  double element_bits = 0;  // of one index and its value
  double message_bits = 0;  // once per message
  std::size_t step = 1;     // T is a multiple of this: a packet's worth of elements
};

inline Terms terms_of(const Settings& settings, std::size_t elements) {
  const std::string &rule = settings.word("rule"), &cost = settings.word("cost");
  Terms terms{.rule = rule == "sign"         ? Rule::sign
                      : rule == "stochastic" ? Rule::stochastic
                                             : Rule::sparsify,
              .cost = cost == "payload"  ? Cost::payload
                      : cost == "affine" ? Cost::affine
                                         : Cost::packet,
              .packet_cost = settings.number("packet-cost"),
              .packet_bits = settings.number("packet-bits"),
              .fixed_cost = settings.number("fixed-cost")};
  const double index_bits = elements > 1 ? static_cast<double>(std::bit_width(elements - 1)) : 1.0;
  terms.element_bits = index_bits + (terms.rule == Rule::sign ? 1 : 32);
  terms.message_bits = terms.rule == Rule::sign ? 32 : 0;
  if (terms.cost == Cost::packet)
    terms.step =
        std::max<std::size_t>(1, static_cast<std::size_t>(terms.packet_bits / terms.element_bits));
  return terms;
}

inline bool keeps_residual(const Settings& settings) {
  return with_feedback(settings) && settings.word("rule") != "stochastic";
}

constexpr double whole_packets(double packets) {  // std::ceil is not constexpr
  const double whole = static_cast<double>(static_cast<std::uint64_t>(packets));
  return whole < packets ? whole + 1 : whole;
}

// C(T) in the cost model of the settings.
constexpr double cost_of(const Terms& terms, double payload_bits) {
  if (terms.cost == Cost::payload)
    return payload_bits;
  const double packets = payload_bits / terms.packet_bits;
  return terms.packet_cost * (terms.cost == Cost::packet ? whole_packets(packets) : packets) +
         terms.fixed_cost;
}

// Walks T upward over descending magnitudes, and stops when the improvement per cost first drops
// (as in the public implementation): alpha(T) and the costs together have a single peak. Call
// `next` until `finished`; then `best` is T.
struct Walk {
  Terms terms;
  double absolute = 0;  // sum over the whole tensor
  std::size_t elements = 0;
  std::size_t count = 0, best = 0, saturated = 0;
  double sum = 0, squares = 0, certain_sum = 0, certain_squares = 0;
  double best_ratio = 0;
  double best_sum = 0;  // of the T largest magnitudes
  // Stochastic rule: keeps element j with probability min(1, |g_j| / unit); the `saturated` largest
  // are certain, the others share the rest of T.
  double best_unit = 0;
  bool finished = false;

  constexpr Walk(const Terms& t, double magnitudes, std::size_t n)
      : terms(t), absolute(magnitudes), elements(n), finished(n == 0) {}

  // Takes the magnitude of the next rank. `at(i)` returns that of an earlier rank i, counted from
  // 0.
  template <class At>
  constexpr void next(double magnitude, const At& at) {
    ++count;
    sum += magnitude;
    squares += magnitude * magnitude;
    if (count % terms.step == 0 || count == elements)
      judge(at);
    finished = finished || count == elements;
  }

  template <class At>
  constexpr void judge(const At& at) {
    const double sent = static_cast<double>(count);
    double unit = 0;
    const double ratio = improvement(sent, at, unit) /
                         cost_of(terms, sent * terms.element_bits + terms.message_bits);
    if (!(ratio > best_ratio) && best > 0) {
      finished = true;
      return;
    }
    best_ratio = ratio;
    best = count;
    best_sum = sum;
    best_unit = unit;
  }

  // alpha(T), beta(T) or omega(T), each without the factors that do not depend on T.
  template <class At>
  constexpr double improvement(double sent, const At& at, double& unit) {
    if (terms.rule == Rule::sparsify)
      return squares;
    if (terms.rule == Rule::sign)
      return sum * sum / sent;
    while (saturated < count) {
      const double magnitude = at(saturated);
      if (!((sent - static_cast<double>(saturated)) * magnitude >= tail()))
        break;
      certain_sum += magnitude;
      certain_squares += magnitude * magnitude;
      ++saturated;
    }
    const double shared = sent - static_cast<double>(saturated);
    unit = shared > 0 ? tail() / shared : 0;
    const double spread = certain_squares + (shared > 0 ? tail() * tail() / shared : 0);
    return spread > 0 ? 1 / spread : 0;
  }

  constexpr double tail() const {
    const double rest = absolute - certain_sum;
    return rest < 0.0 ? 0.0 : rest;
  }
};

// The probability with which the stochastic rule keeps an element. Kept values are divided by it.
constexpr double chance(float u, double unit) {
  const double magnitude = absolute_value(u);
  return magnitude >= unit ? (magnitude > 0 ? 1.0 : 0.0) : magnitude / unit;
}

// The one scale of the sign rule: the mean of the T largest magnitudes.
constexpr float sign_scale(double best_sum, std::size_t best) {
  return best > 0 ? static_cast<float>(best_sum / static_cast<double>(best)) : 0.0f;
}

}  // namespace syncline::cat

// The sign methods: one bit per element (set: u >= 0), after one or two scales, and a residual from
// which the sent scales are subtracted only at the next step. The bits do not depend on the scale,
// so one pass of 12.13 bytes per element does everything (g and e read, u and a bit written).
// Message: scales (fp32), then 32 signs per word.
#pragma once

#include <string>

#include "kernels/compressor.h"

namespace syncline {

struct SignSums {  // over u >= 0, and over the others, NaN included
  double positive = 0;
  double negative = 0;
  double positives = 0;
  double negatives = 0;
};

constexpr SignSums operator+(const SignSums& a, const SignSums& b) {
  return {a.positive + b.positive, a.negative + b.negative, a.positives + b.positives,
          a.negatives + b.negatives};
}

// EF-signSGD: one scale, the mean of |u|.
constexpr SignScales one_scale(const SignSums& sums) {
  const double elements = sums.positives + sums.negatives;
  const float mean =
      elements > 0 ? static_cast<float>((sums.positive - sums.negative) / elements) : 0.0f;
  return {mean, -mean};
}

// 1-bit SGD: the mean of each side.
constexpr SignScales two_scales(const SignSums& sums) {
  return {sums.positives > 0 ? static_cast<float>(sums.positive / sums.positives) : 0.0f,
          sums.negatives > 0 ? static_cast<float>(sums.negative / sums.negatives) : 0.0f};
}

using ScalesOf = SignScales (*)(const SignSums&);

// One scale (negative = -positive), or two.
struct SignFormat {
  std::string name;
  std::size_t scales = 1;
  ScalesOf scales_of = nullptr;
};

constexpr std::size_t sign_words(std::size_t elements) {
  return (elements + 31) / 32;
}

}  // namespace syncline

// The decisions of Gaussian_k, shared by its versions (gaussiank.cpp names the paper): a threshold
// from the normal quantile, then at most three masks.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

#include "kernels/arithmetic/moments.h"
#include "kernels/arithmetic/normal.h"
#include "kernels/compressor.h"

namespace syncline {

inline constexpr int gaussian_passes = 3;

inline double gaussian_quantile(const Settings& settings) {
  const double density = density_of(settings);
  return normal_quantile(1 - (settings.word("sides") == "two" ? density / 2 : density));
}

// The sample variance, as in torch.std: t = mean + deviation * quantile.
constexpr double gaussian_variance(const Moments& moments) {
  if (moments.count < 2)  // torch gives NaN, and NaN selects nothing
    return std::numeric_limits<double>::quiet_NaN();
  const double variance =
      (moments.squares - moments.sum * (moments.sum / moments.count)) / (moments.count - 1);
  return variance < 0 ? 0.0 : variance;
}

inline double gaussian_threshold(const Moments& moments, double quantile) {
  return moments.sum / moments.count + std::sqrt(gaussian_variance(moments)) * quantile;
}

// The masks that the loop can reach, as factors of the first threshold.
inline constexpr std::size_t gaussian_masks = 6;
constexpr double mask_factor(std::size_t mask) {
  constexpr double factors[gaussian_masks] = {1, 0.5, 1.5, 0.25, 0.75, 2.25};
  return factors[mask];
}

// The factor of the threshold after a mask that selected `count`; 1: that mask is sent.
constexpr double gaussian_factor(std::size_t count, std::size_t k) {
  return 3 * count < 2 * k ? 0.5 : 3 * count > 4 * k ? 1.5 : 1.0;
}

// The factor of the mask that is sent, given the counts of all reachable masks.
template <class Counts>
constexpr double last_mask(const Counts& counts, std::size_t k) {
  double factor = 1;
  for (int pass = 1; pass < gaussian_passes; ++pass)
    for (std::size_t mask = 0; mask < gaussian_masks; ++mask)
      if (mask_factor(mask) == factor) {
        factor *= gaussian_factor(counts[mask], k);
        break;
      }
  return factor;
}

}  // namespace syncline

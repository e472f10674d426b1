// TernGrad's arithmetic, shared by its versions (NeurIPS 2017).
#pragma once

#include "kernels/arithmetic/moments.h"
#include "kernels/arithmetic/quantise.h"

namespace syncline {

constexpr double ternary_variance(const Moments& moments) {
  const double mean = moments.sum / moments.count;
  return moments.squares / moments.count - mean * mean;
}

// The largest magnitude, or `clip` deviations if that is less. (The caller takes the square root:
// std::sqrt is not constexpr, and nvcc accepts only constexpr functions of the host.)
constexpr float ternary_scale(const Moments& moments, double clip, double deviation) {
  float scale = std::bit_cast<float>(moments.top);
  if (clip > 0 && deviation >= 0) {
    const float limit = static_cast<float>(clip * deviation);
    scale = limit < scale ? limit : scale;
  }
  return scale == scale ? scale : std::numeric_limits<float>::quiet_NaN();
}

constexpr std::uint8_t ternary_code(float u, float inverse, std::uint32_t random) {
  // level_of for one level, without its conversions; NaN counts as sent.
  const std::uint32_t sent = absolute_value(u) * inverse <= edge_of(random) ? 0u : 1u;
  return static_cast<std::uint8_t>(sent * (u < 0 ? 3u : 1u));
}

inline Masks ternary_codes(const Floats& u, float inverse, const Masks& random) {
  const Floats zero = {};
  const Masks stays = floats_of(keys_of(u)) * inverse <= edges_of(random), negative = u < zero;
  return ~stays & (1 | (negative & 2));
}

constexpr float from_ternary(std::uint32_t code, float scale) {
  return from_level(code & 1u, (code & 2u) != 0, scale);
}

}  // namespace syncline

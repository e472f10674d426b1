// The arithmetic of stochastic rounding, shared by every quantiser and every device.
//
// A bucket is scaled by levels / scale, so its magnitudes lie in [0, levels]; each goes to one of
// its two neighbours, up with probability equal to the fraction. A bucket whose scale is below
// 2^-100 is sent as zeros, because levels / scale would overflow: the error is below 2^-100 per
// element.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/moments.h"

namespace syncline {

// levels / scale, or 0 for a scale that is too small, infinite or NaN (whatever the codes are then,
// a scale that is not finite tells the receiver).
constexpr float inverse_unit(float scale, int levels) {
  return scale >= 0x1p-100f && scale <= 0x1.fffffep127f ? static_cast<float>(levels) / scale : 0.0f;
}

// The fraction from which 16 random bits round up; half a step is added so that they are centred.
constexpr float edge_of(std::uint32_t random) {
  return (static_cast<float>(random) + 0.5f) * 0x1p-16f;
}

// The level |v| goes to.
constexpr std::uint32_t level_of(float v, float inverse, int levels, std::uint32_t random) {
  const float scaled = absolute_value(v) * inverse;
  // Also replaces NaN: the comparison is false for it, and no NaN may be converted to an integer.
  const float clipped = scaled < static_cast<float>(levels) ? scaled : static_cast<float>(levels);
  const std::int32_t low = static_cast<std::int32_t>(clipped);
  const float fraction = clipped - static_cast<float>(low);
  return static_cast<std::uint32_t>(low + (fraction > edge_of(random) ? 1 : 0));
}

// The same for sixteen.
inline Masks level_of(const Floats& v, float inverse, int levels, const Masks& random) {
  const Floats top = Floats{} + static_cast<float>(levels);
  const Floats scaled = floats_of(keys_of(v)) * inverse;
  const Floats clipped = scaled < top ? scaled : top;
  const Masks low = __builtin_convertvector(clipped, Masks);
  const Floats fraction = clipped - __builtin_convertvector(low, Floats);
  const Floats edge = (__builtin_convertvector(random, Floats) + 0.5f) * 0x1p-16f;
  return low - (fraction > edge);  // a comparison that holds is -1
}

constexpr float from_level(std::uint32_t level, bool negative, float unit) {
  const float magnitude = static_cast<float>(level) * unit;
  return negative ? -magnitude : magnitude;
}

inline Floats from_level(const Masks& level, const Masks& negative, float unit) {
  const Floats magnitude = __builtin_convertvector(level, Floats) * unit;
  return negative ? -magnitude : magnitude;
}

}  // namespace syncline

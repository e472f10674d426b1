// Magnitudes as integers: the bits of a float without its sign are ordered like |x|, with infinity
// above every number and NaN above infinity. Comparing keys needs no special cases, keeps denormals
// whatever the compiler's flags are, and merges +0 and -0. All NaNs have one key, because adding a
// number to a NaN keeps its bits on x86 but not on a GPU.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace syncline {

inline constexpr std::uint32_t no_key = 0x80000000u;  // a threshold that no key reaches

inline constexpr std::uint32_t infinite_key = 0x7f800000u;

inline constexpr std::uint32_t nan_key = infinite_key + 1;

constexpr std::uint32_t key_of_bits(std::uint32_t bits) {
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  return magnitude < nan_key ? magnitude : nan_key;
}

constexpr std::uint32_t magnitude_key(float value) {
  return key_of_bits(std::bit_cast<std::uint32_t>(value));
}

// The smallest key of a value with |x| >= threshold.
constexpr std::uint32_t key_from(double threshold) {
  if (threshold != threshold)
    return no_key;
  if (threshold <= 0)
    return 0;
  if (threshold >= 0x1p128)  // beyond every number: only infinity (and NaN) reaches it
    return infinite_key;
  const float rounded = static_cast<float>(threshold);
  const std::uint32_t key = magnitude_key(rounded);
  return static_cast<double>(rounded) < threshold ? key + 1 : key;
}

// The smallest key of a value with |x| > threshold, as frameworks compare a float tensor with a
// Python number: the number is rounded to float first.
constexpr std::uint32_t key_above(double threshold) {
  const float rounded = static_cast<float>(threshold);
  if (rounded != rounded)
    return no_key;
  return rounded < 0 ? 0 : magnitude_key(rounded) + 1;  // -0 is not below 0
}

// 2048 bins, eight per octave, which ascend with the magnitude.
inline constexpr std::size_t bins = 2048;
constexpr std::uint32_t bin_of(std::uint32_t key) {
  return key >> 20;
}
constexpr std::uint32_t first_key(std::uint32_t bin) {
  return bin << 20;
}

// How many elements a density asks for: the published codes' max(floor(density * d), 1), but none
// for density 0.
constexpr std::size_t wanted(double density, std::size_t elements) {
  if (density <= 0 || elements == 0)
    return 0;
  const std::size_t floor = static_cast<std::size_t>(density * static_cast<double>(elements));
  return floor < 1 ? 1 : floor > elements ? elements : floor;
}

}  // namespace syncline

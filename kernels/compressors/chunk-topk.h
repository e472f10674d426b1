// The arithmetic and the message of chunk-wise top-k, shared by its versions (SparseLoCo, Sarfi et
// al., arXiv 2508.15706).
#pragma once

#include "kernels/arithmetic/chunks.h"
#include "kernels/arithmetic/moments.h"

namespace syncline {

inline constexpr unsigned level_bits = 2;  // bits per value: its sign, and one of two levels

// Message: two levels in fp32, then the places, then the codes.
struct LevelMessage : Chunks {
  constexpr std::size_t indices_begin() const { return 2 * sizeof(float); }
  constexpr std::size_t codes_begin() const {
    return indices_begin() + packed_bytes(sent(), index_bits);
  }
  constexpr std::size_t bytes() const { return codes_begin() + packed_bytes(sent(), level_bits); }
};

inline LevelMessage level_message(const Settings& settings, std::size_t elements) {
  return {chunks_of(settings, elements)};
}

// Sums and counts of the sent magnitudes, all of them or per level. Lane j mod 32 of a chunk adds
// its j-th value, in double, so that no sum of finite magnitudes overflows; lanes and chunks are
// added in the order of order.h.
struct LevelSums {
  double low = 0, lows = 0;  // sum and count
  double high = 0, highs = 0;

  constexpr void add(float value, std::uint32_t high_key) {
    const bool is_high = magnitude_key(value) >= high_key;
    const double magnitude = absolute_value(value);
    low += is_high ? 0.0 : magnitude;
    lows += is_high ? 0.0 : 1.0;
    high += is_high ? magnitude : 0.0;
    highs += is_high ? 1.0 : 0.0;
  }
};

constexpr LevelSums operator+(const LevelSums& a, const LevelSums& b) {
  return {a.low + b.low, a.lows + b.lows, a.high + b.high, a.highs + b.highs};
}

// Magnitudes at or above the mean of all have the high level. A level is sent as the mean of its
// magnitudes.
constexpr float mean_of(double sum, double count) {
  return count > 0 ? static_cast<float>(sum / count) : 0.0f;
}
constexpr std::uint32_t high_key_of(const LevelSums& all) {
  return all.lows > 0 ? key_from(mean_of(all.low, all.lows)) : no_key;
}

constexpr std::uint8_t level_code(float value, std::uint32_t high_key) {
  return static_cast<std::uint8_t>((value < 0 ? 1u : 0u) |
                                   (magnitude_key(value) >= high_key ? 2u : 0u));
}
constexpr float from_level_code(std::uint32_t code, float low, float high) {
  const float magnitude = (code & 2u) != 0 ? high : low;
  return (code & 1u) != 0 ? -magnitude : magnitude;
}

}  // namespace syncline

// Sums of a tensor and of its magnitudes, in the order of order.h. (With one plain float sum over
// 2^24 elements a threshold selected 13 % too many.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/arithmetic/keys.h"
#include "kernels/arithmetic/lanes.h"
#include "kernels/arithmetic/order.h"

namespace syncline {

struct Moments {
  double count = 0;
  double sum = 0;         // of x
  double absolute = 0;    // of |x|
  double squares = 0;     // of x^2
  std::uint32_t top = 0;  // largest key
};

constexpr Moments operator+(const Moments& a, const Moments& b) {
  return {a.count + b.count, a.sum + b.sum, a.absolute + b.absolute, a.squares + b.squares,
          a.top > b.top ? a.top : b.top};
}

constexpr float absolute_value(float value) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0x7fffffffu);
}

struct LaneSums {
  float sum[lanes] = {}, absolute[lanes] = {}, squares[lanes] = {};
  std::uint32_t top[lanes] = {};

  void add(float x, std::size_t lane) {
    sum[lane] += x;
    absolute[lane] += absolute_value(x);
    squares[lane] += x * x;
    top[lane] = std::max(top[lane], magnitude_key(x));
  }
};

inline Moments total_of(const LaneSums& partial, std::size_t count) {
  Moments total{.count = static_cast<double>(count)};
  for (std::size_t lane = 0; lane < lanes; ++lane)
    total = total + Moments{0, partial.sum[lane], partial.absolute[lane], partial.squares[lane],
                            std::min(partial.top[lane], nan_key)};
  return total;
}

// Moments of up to one tile, one element at a time.
inline Moments tile_moments_plainly(const float* x, std::size_t count) {
  LaneSums partial;
  for (std::size_t i = 0; i < count; ++i)
    partial.add(x[i], i % lanes);
  return total_of(partial, count);
}

// The same with vectors, each of which holds half of the lanes.
inline Moments tile_moments(const float* x, std::size_t count) {
  LaneSums partial;
  const std::size_t whole = count - count % lanes;
  for (std::size_t half = 0; half < lanes; half += lane_width) {
    Floats sum = {}, absolute = {}, squares = {};
    Words top = {};
    for (std::size_t i = half; i < whole; i += lanes) {
      const Floats values = load(x + i);
      const Words keys = keys_of(values);
      sum += values;
      absolute += floats_of(keys);
      squares += values * values;
      top = keys > top ? keys : top;
    }
    store(sum, partial.sum + half);
    store(absolute, partial.absolute + half);
    store(squares, partial.squares + half);
    std::memcpy(partial.top + half, &top, sizeof top);
  }
  for (std::size_t i = whole; i < count; ++i)
    partial.add(x[i], i - whole);
  return total_of(partial, count);
}

// Only `top`, for callers that need no sums.
inline std::uint32_t tile_top(const float* x, std::size_t count) {
  const std::size_t whole = count - count % lane_width;
  Words tops = {};
  for (std::size_t i = 0; i < whole; i += lane_width) {
    const Words keys = keys_of(load(x + i));
    tops = keys > tops ? keys : tops;
  }
  std::uint32_t top = 0;
  for (std::size_t lane = 0; lane < lane_width; ++lane)
    top = std::max(top, tops[lane]);
  for (std::size_t i = whole; i < count; ++i)
    top = std::max(top, magnitude_key(x[i]));
  return std::min(top, nan_key);  // vectors keep the bits of each NaN
}

// The reference: one tile after the other.
inline Moments moments_of(std::span<const float> x) {
  return sum_plainly(x.size(), [&](std::size_t begin, std::size_t count) {
    return tile_moments_plainly(x.data() + begin, count);
  });
}

}  // namespace syncline

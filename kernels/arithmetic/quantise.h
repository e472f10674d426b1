// Stochastic rounding, shared by every quantiser and every device.
//
// A bucket is multiplied by levels / scale, so its magnitudes lie in [0, levels]; each is rounded
// to one of its two neighbours, up with probability equal to the fraction. A bucket whose scale is
// below 2^-100 is sent as zeros, because levels / scale would overflow: the error is below 2^-100
// per element.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/arithmetic/lanes.h"
#include "kernels/arithmetic/moments.h"
#include "kernels/philox.h"

namespace syncline {

// levels / scale, or 0 for a scale that is too small, infinite or NaN (a non-finite scale in the
// message tells the receiver, whatever the codes are).
constexpr float inverse_unit(float scale, int levels) {
  return scale >= 0x1p-100f && scale <= 0x1.fffffep127f ? static_cast<float>(levels) / scale : 0.0f;
}

// 16 random bits round fractions from here on up; half a step is added to centre the edges.
constexpr float edge_of(std::uint32_t random) {
  return (static_cast<float>(random) + 0.5f) * 0x1p-16f;
}

// The words from which random16 takes its bits, for one block of elements: 32 counters side by
// side. Each word sits in 64 bits during the computation; the upper half is ignored.
inline constexpr std::size_t block_words = random_block / 2;

inline void random_words_of_block(const Draw& draw, std::uint64_t block, std::uint32_t* out) {
  constexpr std::size_t groups = 32 / long_width;
  Longs a[groups], b[groups], c[groups], d[groups];
  for (std::size_t i = 0; i < groups; ++i) {
    a[i] = Longs{0, 1, 2, 3, 4, 5, 6, 7} + (block * 32 + i * long_width);
    b[i] = a[i] >> 32;
    c[i] = Longs{} + draw.step;
    d[i] = Longs{} + draw.tensor;
  }
  std::uint32_t key0 = static_cast<std::uint32_t>(draw.seed);
  std::uint32_t key1 = static_cast<std::uint32_t>(draw.seed >> 32);
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = 0; i < groups; ++i) {
      const Longs product0 = products(a[i], 0xD2511F53u), product1 = products(c[i], 0xCD9E8D57u);
      a[i] = product1 >> 32 ^ b[i] ^ key0;
      b[i] = product1;
      c[i] = product0 >> 32 ^ d[i] ^ key1;
      d[i] = product0;
    }
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  const Longs* words[4] = {a, b, c, d};
  for (std::size_t word = 0; word < 4; ++word) {
    std::uint64_t bits[32];
    std::memcpy(bits, words[word], sizeof bits);
    for (std::size_t i = 0; i < 32; ++i)
      out[word * 32 + i] = static_cast<std::uint32_t>(bits[i]);
  }
}

// The random words of a tile's elements. Prefetches the elements, at `u`, because drawing takes
// about as long as fetching them. `out` has room for whole blocks.
inline void random_words_of_tile(const Draw& draw, std::size_t begin, std::size_t count,
                                 const float* u, std::uint32_t* out) {
  for (std::size_t at = 0; at < count; at += random_block) {
    for (std::size_t line = 0; line < random_block; line += lane_width)
      __builtin_prefetch(u + at + line);
    random_words_of_block(draw, (begin + at) / random_block, out + at / 2);
  }
}

// random16 of element i of that tile; the next function: of sixteen elements from i on, where i is
// a multiple of 16.
inline std::uint32_t random16_in(const std::uint32_t* words, std::size_t i) {
  const std::size_t slot = i / 32 % 8;
  return words[i / random_block * block_words + slot / 2 * 32 + i % 32] >> slot % 2 * 16 & 0xffffu;
}

inline Masks sixteen_random16_in(const std::uint32_t* words, std::size_t i) {
  const std::size_t slot = i / 32 % 8;
  Words here;
  std::memcpy(&here, words + i / random_block * block_words + slot / 2 * 32 + i % 32, sizeof here);
  return (Masks)(here >> static_cast<std::uint32_t>(slot % 2 * 16) & 0xffffu);
}

// The level to which |v| is rounded.
constexpr std::uint32_t level_of(float v, float inverse, int levels, std::uint32_t random) {
  const float scaled = absolute_value(v) * inverse;
  // Also replaces NaN, for which the comparison is false: a NaN must not be converted to an
  // integer.
  const float clipped = scaled < static_cast<float>(levels) ? scaled : static_cast<float>(levels);
  const std::int32_t low = static_cast<std::int32_t>(clipped);
  const float fraction = clipped - static_cast<float>(low);
  return static_cast<std::uint32_t>(low + (fraction > edge_of(random) ? 1 : 0));
}

inline Floats edges_of(const Masks& random) {
  return (__builtin_convertvector(random, Floats) + 0.5f) * 0x1p-16f;
}

// The same for sixteen values.
inline Masks level_of(const Floats& v, float inverse, int levels, const Masks& random) {
  const Floats top = Floats{} + static_cast<float>(levels);
  const Floats scaled = floats_of(keys_of(v)) * inverse;
  const Floats clipped = scaled < top ? scaled : top;
  const Masks low = __builtin_convertvector(clipped, Masks);
  const Floats fraction = clipped - __builtin_convertvector(low, Floats);
  return low - (fraction > edges_of(random));  // a true comparison is -1
}

constexpr float from_level(std::uint32_t level, bool negative, float unit) {
  const float magnitude = static_cast<float>(level) * unit;
  return negative ? -magnitude : magnitude;
}

inline Floats from_level(const Masks& level, const Masks& negative, float unit) {
  const Floats magnitude = __builtin_convertvector(level, Floats) * unit;
  return negative ? -magnitude : magnitude;
}

// What stays in the residual; nothing where the scale is not finite, since that would stay for
// ever.
inline float left_behind(float u, float sent) {
  return std::isfinite(sent) ? u - sent : 0.0f;
}

}  // namespace syncline

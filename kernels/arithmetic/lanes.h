// Sixteen values at a time on a CPU, in vector types of the compiler (g++ and clang map them to the
// registers there are). Sums over tiles need them: their order is fixed (moments.h), so the
// compiler may not reorder them to vectorise; fast-math would allow that, but drops denormals and
// tests for NaN.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace syncline {

using Floats [[gnu::vector_size(64)]] = float;
using Words [[gnu::vector_size(64)]] = std::uint32_t;
using Masks [[gnu::vector_size(64)]] = std::int32_t;  // of comparisons: -1 where true
using Bytes [[gnu::vector_size(16)]] = std::uint8_t;
inline constexpr std::size_t lane_width = 16;

inline Floats load(const float* from) {
  Floats values;
  std::memcpy(&values, from, sizeof values);
  return values;
}

inline void store(const Floats& values, float* to) {
  std::memcpy(to, &values, sizeof values);
}

inline Masks widened(const std::uint8_t* from) {
  Bytes values;
  std::memcpy(&values, from, sizeof values);
  return __builtin_convertvector(values, Masks);
}

inline void narrow(const Masks& values, std::uint8_t* to) {
  const Bytes bytes = __builtin_convertvector(values, Bytes);
  std::memcpy(to, &bytes, sizeof bytes);
}

inline Words words_of(const Floats& values) {
  Words bits;
  std::memcpy(&bits, &values, sizeof bits);
  return bits;
}

inline Words keys_of(const Floats& values) {
  return words_of(values) & 0x7fffffffu;
}

inline Floats floats_of(const Words& bits) {
  Floats values;
  std::memcpy(&values, &bits, sizeof values);
  return values;
}

// Operations below exist in processors but not for vector types.

// 64-bit products of a factor and the lower halves of eight words.
using Longs [[gnu::vector_size(64)]] = std::uint64_t;
inline constexpr std::size_t long_width = 8;

inline Longs products(const Longs& a, std::uint32_t factor) {
#if defined(__AVX512F__)  // masked, because g++ 12 warns of its own header otherwise (bug 105593)
  return (Longs)_mm512_maskz_mul_epu32(0xff, (__m512i)a, _mm512_set1_epi64(factor));
#elif defined(__AVX2__)
  __m256i halves[2];
  std::memcpy(halves, &a, sizeof halves);
  for (__m256i& half : halves)
    half = _mm256_mul_epu32(half, _mm256_set1_epi64x(factor));
  Longs product;
  std::memcpy(&product, halves, sizeof product);
  return product;
#else
  return (a & 0xffffffffu) * factor;
#endif
}

// Stores the lanes whose bit is set, side by side. Overwrites up to lane_width words.
inline void store_set(const Words& words, std::uint32_t bits, std::uint32_t* to) {
#if defined(__AVX512F__)
  _mm512_storeu_si512(to,
                      _mm512_maskz_compress_epi32(static_cast<__mmask16>(bits), (__m512i)words));
#else
  std::uint32_t lanes[lane_width];
  std::memcpy(lanes, &words, sizeof lanes);
  for (; bits != 0; bits &= bits - 1)
    *to++ = lanes[std::countr_zero(bits)];
#endif
}

// One bit per lane, lane 0 lowest.
inline std::uint32_t bits_of(const Masks& masks) {
#if defined(__AVX512DQ__)
  return _mm512_movepi32_mask((__m512i)masks);
#elif defined(__AVX__)
  __m256 halves[2];
  std::memcpy(halves, &masks, sizeof halves);
  return static_cast<std::uint32_t>(_mm256_movemask_ps(halves[0]) | _mm256_movemask_ps(halves[1])
                                                                        << 8);
#else
  std::uint32_t bits = 0;
  for (std::size_t lane = 0; lane < lane_width; ++lane)
    bits |= (masks[lane] != 0 ? 1u : 0u) << lane;
  return bits;
#endif
}

// bits_of the lanes that reach a threshold. (Compilers would make a mask vector first.)
inline std::uint32_t reaching(const Words& words, std::uint32_t threshold) {
#if defined(__AVX512F__)
  return _mm512_cmpge_epu32_mask((__m512i)words, _mm512_set1_epi32(static_cast<int>(threshold)));
#else
  return bits_of(words >= threshold);
#endif
}

}  // namespace syncline

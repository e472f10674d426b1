// Sixteen values at a time on a CPU, as the compilers' own vector types (g++ and clang; they become
// whatever registers there are). Sums over tiles need it: their order is fixed (moments.h), which
// forbids the compiler the reordering that it would vectorise by, and kernels.md 4.10 forbids
// fast-math.
#pragma once

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
inline constexpr std::size_t lane_width = 16;

inline Floats load(const float* from) {
  Floats values;
  std::memcpy(&values, from, sizeof values);
  return values;
}

inline void store(const Floats& values, float* to) {
  std::memcpy(to, &values, sizeof values);
}

inline Words keys_of(const Floats& values) {
  Words bits;
  std::memcpy(&bits, &values, sizeof bits);
  return bits & 0x7fffffffu;
}

inline Floats floats_of(const Words& bits) {
  Floats values;
  std::memcpy(&values, &bits, sizeof values);
  return values;
}

// One bit per lane, lane 0 lowest. The one thing that vector types cannot say and processors can
// do.
inline std::uint32_t bits_of(const Masks& masks) {
#if defined(__AVX512DQ__)
  __m512i lanes;
  std::memcpy(&lanes, &masks, sizeof lanes);
  return _mm512_movepi32_mask(lanes);
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

}  // namespace syncline

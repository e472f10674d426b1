// Random bits as a pure function of (seed, element, step, tensor): Philox4x32-10 (Salmon, Moraes,
// Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011). Without state, any tile,
// thread or device draws the same bits for the same element, in any order.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/compressor.h"
#include "kernels/elementary.h"

namespace syncline {

using PhiloxWords = std::array<std::uint32_t, 4>;

constexpr PhiloxWords philox(PhiloxWords counter, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53u} * counter[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key0,
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key1,
               static_cast<std::uint32_t>(product0)};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

// The 128 bits of `group`, the number of a group of elements that share one call.
constexpr PhiloxWords random_words(const Draw& draw, std::uint64_t group) {
  return philox({static_cast<std::uint32_t>(group), static_cast<std::uint32_t>(group >> 32),
                 draw.step, draw.tensor},
                static_cast<std::uint32_t>(draw.seed), static_cast<std::uint32_t>(draw.seed >> 32));
}

// 16 random bits for rounding, which needs few: eight elements share a call. (A call is about 100
// instructions, and a GPU has about 120 per element while it moves 12 bytes.) Probabilities are
// then exact to 2^-17. The eight lie 32 apart in a block of 256, so that the 32 lanes of a warp, or
// the vectors of a CPU, use neighbouring calls for neighbouring elements.
inline constexpr std::size_t random_block = 256;

constexpr std::uint32_t random16(const Draw& draw, std::uint64_t element) {
  const std::uint64_t group = element / random_block * 32 + element % 32;
  const std::uint32_t slot = static_cast<std::uint32_t>(element / 32 % 8);
  return (random_words(draw, group)[slot / 2] >> (slot % 2 * 16)) & 0xffffu;
}

// A uniform number in [0, 1), 24 bits, one per element: for methods that draw rarely.
constexpr double uniform(const Draw& draw, std::uint64_t element) {
  return (random_words(draw, element)[0] >> 8) * 0x1p-24;
}

// Four normal numbers with mean 0 and variance 1 (Box and Muller 1958).
inline std::array<double, 4> normals(const Draw& draw, std::uint64_t group) {
  const PhiloxWords words = random_words(draw, group);
  std::array<double, 4> drawn;
  for (std::size_t i = 0; i < 4; i += 2) {
    const double length = std::sqrt(-2 * steady_log((words[i] + 1.0) * 0x1p-32));
    const CosineSine turn = steady_turn(words[i + 1] * 0x1p-32);
    drawn[i] = length * turn.cosine;
    drawn[i + 1] = length * turn.sine;
  }
  return drawn;
}

}  // namespace syncline

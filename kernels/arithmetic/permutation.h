// A random permutation of 0 .. n-1 that is computed, not stored: a Feistel network over the next
// even power of two, repeated until the result is below n (Luby and Rackoff 1988; Black and Rogaway
// 2002). Any entry costs the same, and the first k entries are k distinct elements: exact sampling
// without replacement, where GRACE draws with replacement and torch.randperm sorts n random
// numbers. Also the elements that a sample of a tensor reads.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/philox.h"

namespace syncline {

struct Permutation {
  PhiloxWords keys{};
  unsigned half_bits = 1;
  std::uint64_t size = 0;
};

constexpr Permutation permutation(const Draw& draw, std::uint64_t size) {
  const unsigned bits = static_cast<unsigned>(std::bit_width(size > 1 ? size - 1 : 1));
  // The counter of all ones, which no element has, so these bits are used nowhere else.
  return {random_words(draw, ~std::uint64_t{0}), (bits + 1) / 2, size};
}

constexpr std::uint32_t mixed(std::uint32_t x) {  // the finaliser of MurmurHash3
  x = (x ^ (x >> 16)) * 0x85ebca6bu;
  x = (x ^ (x >> 13)) * 0xc2b2ae35u;
  return x ^ (x >> 16);
}

constexpr std::uint64_t permuted(const Permutation& p, std::uint64_t i) {
  const std::uint32_t mask = static_cast<std::uint32_t>((std::uint64_t{1} << p.half_bits) - 1);
  do {
    std::uint32_t left = static_cast<std::uint32_t>(i >> p.half_bits);
    std::uint32_t right = static_cast<std::uint32_t>(i) & mask;
    for (std::uint32_t round = 0; round < 6; ++round) {
      const std::uint32_t next =
          left ^ (mixed(right + p.keys[round % 4] + round * 0x9e3779b9u) & mask);
      left = right;
      right = next;
    }
    i = (std::uint64_t{left} << p.half_bits) | right;
  } while (i >= p.size);
  return i;
}

// The element that a sample reads in one stratum: random within each of `samples` equal strata, so
// that layers of different scale are covered in proportion.
constexpr std::size_t sampled_element(const Draw& draw, std::size_t elements, std::size_t samples,
                                      std::size_t stratum) {
  const std::uint64_t begin = std::uint64_t{stratum} * elements / samples;
  const std::uint64_t end = (std::uint64_t{stratum} + 1) * elements / samples;
  return begin + random_words(draw, stratum)[3] % (end - begin);
}

}  // namespace syncline

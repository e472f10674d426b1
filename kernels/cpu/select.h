// Exact selection by magnitude without sorting: a threshold that is low enough for certain, one
// pass that collects what reaches it, and a radix select on those few.
#pragma once

#include <span>
#include <vector>

#include "kernels/arithmetic/keys.h"
#include "kernels/compressor.h"
#include "kernels/cpu/sparse.h"

namespace syncline {

// Sixteen keys, with one for all NaN.
inline Words keys_of_bits(const Words& bits) {
  const Words magnitudes = bits & 0x7fffffffu, nan = Words{} + nan_key;
  return magnitudes < nan ? magnitudes : nan;
}

inline void put_keys(const Floats& values, std::uint32_t* keys) {
  const Words here = keys_of_bits(words_of(values));
  std::memcpy(keys, &here, sizeof here);
}

// The key of rank k (1 = largest) among `keys`, which are overwritten. 1 <= k <= keys.size().
struct Rank {
  std::uint32_t key = 0;
  std::size_t rank = 0;   // how many keys equal to `key` are among the k largest
  std::size_t equal = 0;  // how many keys equal `key`
};
Rank kth_largest(std::vector<std::uint32_t>& keys, std::size_t k);

// Keys between which the k-th largest of u very probably lies, `high` included: order statistics of
// a sample, five standard deviations to either side. Excludes zeros, so that a tensor with fewer
// than k non-zeros lists only those. Small tensors and large k have no upper end.
struct Bracket {
  std::uint32_t low = 1, high = no_key;
};

// Computes the bracket from a sample of 2^16; look(i, keys) writes the keys of sixteen neighbours
// from u_i on.
Bracket probable_bracket(std::size_t elements, std::size_t k, const Draw& draw,
                         const std::function<void(std::size_t, std::uint32_t*)>& look,
                         Scratch& scratch);

// A key that at least k elements reach for certain: the lower edge of the bin of the k-th largest.
std::uint32_t certain_key(std::span<const float> u, std::size_t k);

// Keeps the k picks of largest magnitude; ties go to the smallest index.
void trim(std::size_t k, Picks& picks);

// The same for picks of which those above the bracket's upper end are already subtracted from u.
void trim(std::size_t k, const Bracket& bracket, std::span<float> u, Picks& picks);

// For fewer than k picks, which are all non-zeros: adds the first zeros.
void add_zeros(std::size_t k, std::span<float> u, Picks& picks);

// The indices of the k largest of u, ascending; plainly, by a stable sort.
std::vector<std::uint32_t> largest_plainly(std::span<const float> u, std::size_t k);

// Picks the k largest of residual + gradient; leaves u = g + e in state.residual, from which some
// of the picks may already be subtracted (Picks::gone_above).
Picks add_and_pick_largest(const Gradient& gradient, bool feedback, std::size_t k, const Draw& draw,
                           State& state);

}  // namespace syncline

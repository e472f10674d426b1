// Exact selection by magnitude without sorting: a threshold that is certainly low enough, one pass
// that collects what reaches it, and a radix select on the little that was collected.
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
  std::size_t rank = 0;   // among the equal ones: how many of them are among the k largest
  std::size_t equal = 0;  // how many there are
};
Rank kth_largest(std::vector<std::uint32_t>& keys, std::size_t k);

// The k-th largest key of u very probably lies in here, `high` included: a sample's order
// statistics, five standard deviations on either side. Zeros are never inside, so that a tensor
// with fewer than k others lists those alone. Small tensors and large k have no upper end.
struct Bracket {
  std::uint32_t low = 1, high = no_key;
};

// From a sample of 2^16, for which look(i, keys) writes the keys of sixteen neighbours from u_i on.
Bracket probable_bracket(std::size_t elements, std::size_t k, const Draw& draw,
                         const std::function<void(std::size_t, std::uint32_t*)>& look,
                         Scratch& scratch);

// A key that k or more elements certainly reach: the lower edge of the bin of the k-th largest.
std::uint32_t certain_key(std::span<const float> u, std::size_t k);

// Leaves the k picks of largest magnitude; of equal ones those with the smallest index.
void trim(std::size_t k, Picks& picks);

// The same for picks of which those above the bracket's upper end are gone from u.
void trim(std::size_t k, const Bracket& bracket, std::span<float> u, Picks& picks);

// The picks are all that is not zero, fewer than k: adds the first zeros to them.
void add_zeros(std::size_t k, std::span<float> u, Picks& picks);

// The k largest of u, plainly: a stable sort. Ascending indices.
std::vector<std::uint32_t> largest_plainly(std::span<const float> u, std::size_t k);

// The k largest of what is in residual + gradient: fills state.residual with u = g + e on the way.
Picks add_and_pick_largest(const Gradient& gradient, bool feedback, std::size_t k, const Draw& draw,
                           State& state);

}  // namespace syncline

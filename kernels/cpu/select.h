// Exact selection by magnitude without sorting: a threshold that is certainly low enough, one pass
// that collects what reaches it, and a radix select on the little that was collected.
#pragma once

#include <span>
#include <vector>

#include "kernels/arithmetic/keys.h"
#include "kernels/compressor.h"
#include "kernels/cpu/sparse.h"

namespace syncline {

// The key of rank k (1 = largest) among `keys`, which are overwritten. 1 <= k <= keys.size().
struct Rank {
  std::uint32_t key = 0;
  std::size_t rank = 0;   // among the equal ones: how many of them are among the k largest
  std::size_t equal = 0;  // how many there are
};
Rank kth_largest(std::vector<std::uint32_t>& keys, std::size_t k);

// A key that some k or more elements of u very probably reach, from a sample of 2^16: the sample's
// order statistic, five standard deviations on the safe side. `key_at(i)` is the key of u_i. Small
// tensors give 0: everything is collected.
std::uint32_t probable_key(std::size_t elements, std::size_t k, const Draw& draw,
                           const std::function<std::uint32_t(std::size_t)>& key_at);

// A key that k or more elements certainly reach: the lower edge of the bin of the k-th largest.
std::uint32_t certain_key(std::span<const float> u, std::size_t k);

// Leaves the k picks of largest magnitude; of equal ones those with the smallest index.
void trim(std::size_t k, Picks& picks);

// The k largest of u, plainly: a stable sort. Ascending indices.
std::vector<std::uint32_t> largest_plainly(std::span<const float> u, std::size_t k);

// The k largest of what is in residual + gradient: fills state.residual with u = g + e on the way.
Picks add_and_pick_largest(const Gradient& gradient, bool feedback, std::size_t k, const Draw& draw,
                           State& state);

}  // namespace syncline

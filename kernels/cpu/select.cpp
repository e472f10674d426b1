#include "kernels/cpu/select.h"

#include <cmath>

#include "kernels/arithmetic/permutation.h"

namespace syncline {
namespace {

// Sixteen neighbours per look, a cache line: a look costs a miss, and what neighbours have in
// common only makes the fallback a little more likely.
constexpr std::size_t strata = std::size_t{1} << 12, neighbours = 16;
constexpr std::size_t sample_size = strata * neighbours;

// This value of a digit holds rank k, counting from the largest; k becomes the rank inside it.
std::size_t digit_of_rank(const std::vector<std::size_t>& counts, std::size_t& k) {
  std::size_t digit = counts.size() - 1;
  while (counts[digit] < k)
    k -= counts[digit--];
  return digit;
}

}  // namespace

Rank kth_largest(std::vector<std::uint32_t>& keys, std::size_t k) {
  std::uint32_t found = 0;
  for (const auto& [shift, digits] : {std::pair{20u, 2048u}, {10u, 1024u}, {0u, 1024u}}) {
    const std::uint32_t mask = digits - 1;
    std::vector<std::size_t> counts(digits);
    for (const std::uint32_t key : keys)
      ++counts[key >> shift & mask];
    const std::size_t digit = digit_of_rank(counts, k);
    std::size_t kept = 0;
    for (const std::uint32_t key : keys) {
      keys[kept] = key;
      kept += (key >> shift & mask) == digit ? 1u : 0u;
    }
    keys.resize(kept);
    found |= static_cast<std::uint32_t>(digit) << shift;
  }
  return {found, k, keys.size()};
}

std::uint32_t probable_key(std::size_t elements, std::size_t k, const Draw& draw,
                           const std::function<std::uint32_t(std::size_t)>& key_at) {
  if (elements < 2 * sample_size)
    return 0;
  const double mean = static_cast<double>(k) / static_cast<double>(elements) * sample_size;
  const double rank = mean + 5 * std::sqrt(mean) + 5;
  if (rank >= sample_size)
    return 0;
  std::vector<std::uint32_t> keys(sample_size);
  run_in_parallel(16, [&](std::size_t part) {
    for (std::size_t i = part * strata / 16; i < (part + 1) * strata / 16; ++i) {
      const std::size_t first =
          std::min(sampled_element(draw, elements, strata, i), elements - neighbours) / neighbours *
          neighbours;
      for (std::size_t j = 0; j < neighbours; ++j)
        keys[i * neighbours + j] = key_at(first + j);
    }
  });
  return kth_largest(keys, static_cast<std::size_t>(rank)).key;
}

std::uint32_t certain_key(std::span<const float> u, std::size_t k) {
  std::vector<std::vector<std::uint32_t>> parts(tiles_of(u.size()) / 64 + 1,
                                                std::vector<std::uint32_t>(bins));
  const std::size_t part_elements = 64 * tile_elements;
  run_in_parallel(parts.size(), [&](std::size_t p) {
    const std::size_t end = std::min(u.size(), (p + 1) * part_elements);
    for (std::size_t i = p * part_elements; i < end; ++i)
      ++parts[p][bin_of(magnitude_key(u[i]))];
  });
  std::vector<std::size_t> counts(bins);
  for (const std::vector<std::uint32_t>& part : parts)
    for (std::size_t bin = 0; bin < bins; ++bin)
      counts[bin] += part[bin];
  return first_key(static_cast<std::uint32_t>(digit_of_rank(counts, k)));
}

void trim(std::size_t k, Picks& picks) {
  if (picks.total() <= k)
    return;
  if (k == 0) {
    std::ranges::fill(picks.counts, 0u);
    return;
  }
  std::vector<std::uint32_t> keys = keys_of(picks);
  const Rank cut = kth_largest(keys, k);
  if (cut.rank == cut.equal) {
    raise(cut.key, picks);
    return;
  }
  std::size_t room = cut.rank;  // for the first of the equal ones
  for (std::size_t t = 0; t < picks.counts.size(); ++t)
    picks.leave(t, [&](std::uint32_t key) {
      const bool tie = key == cut.key && room > 0;
      room -= tie ? 1u : 0u;
      return key > cut.key || tie;
    });
}

std::vector<std::uint32_t> largest_plainly(std::span<const float> u, std::size_t k) {
  std::vector<std::uint32_t> order(u.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return magnitude_key(u[a]) > magnitude_key(u[b]);
  });
  order.resize(k);
  std::sort(order.begin(), order.end());
  return order;
}

Picks add_and_pick_largest(const Gradient& gradient, bool feedback, std::size_t k, const Draw& draw,
                           State& state) {
  const std::size_t n = gradient.elements();
  fit(state.residual, n);
  const float* u = state.residual.data();
  const std::uint32_t low = k == 0 ? no_key : probable_key(n, k, draw, [&](std::size_t i) {
    return magnitude_key(feedback ? gradient.at(i) + u[i] : gradient.at(i));
  });
  Picks picks = add_and_collect(gradient, feedback, low, state);
  if (picks.total() < k)  // the sample misled us: about once in 10^6, or data made to do it
    collect(state.residual, certain_key(state.residual, k), picks);
  trim(k, picks);
  return picks;
}

}  // namespace syncline

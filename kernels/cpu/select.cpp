#include "kernels/cpu/select.h"

#include <array>
#include <cmath>
#include <cstring>

#include "kernels/arithmetic/permutation.h"

namespace syncline {
namespace {

// Each look of the sample reads sixteen neighbours, a cache line, for the price of one cache miss.
// Correlation between neighbours only makes the fallback slightly more likely.
constexpr std::size_t strata = std::size_t{1} << 12, neighbours = 16;
constexpr std::size_t sample_size = strata * neighbours;

static_assert(neighbours == lane_width);

// The digit that holds rank k, counted from the largest; k becomes the rank within that digit.
std::size_t digit_of_rank(const std::vector<std::size_t>& counts, std::size_t& k) {
  std::size_t digit = counts.size() - 1;
  while (counts[digit] < k)
    k -= counts[digit--];
  return digit;
}

template <class Counts>
std::vector<std::size_t> sum_of(const std::vector<Counts>& counts) {
  std::vector<std::size_t> sum(counts.front().size());
  for (const Counts& part : counts)
    for (std::size_t digit = 0; digit < sum.size(); ++digit)
      sum[digit] += part[digit];
  return sum;
}

// Writes the keys that `wanted_of` accepts; returns their number. `keys` must have room for all
// values.
template <class Wanted>
std::size_t keys_where(std::span<const std::uint32_t> values, const Wanted& wanted_of,
                       std::uint32_t* keys) {
  const std::size_t whole = values.size() - values.size() % lane_width;
  std::size_t found = 0;
  for (std::size_t i = 0; i < whole; i += lane_width) {
    Words here;
    std::memcpy(&here, &values[i], sizeof here);
    here = keys_of_bits(here);
    const std::uint32_t set = bits_of(wanted_of(here));
    store_set(here, set, keys + found);
    found += static_cast<std::size_t>(std::popcount(set));
  }
  for (std::size_t i = whole; i < values.size(); ++i) {
    const std::uint32_t key = key_of_bits(values[i]);
    const Masks wanted_here = wanted_of(Words{} + key);
    keys[found] = key;
    found += wanted_here[0] != 0 ? 1u : 0u;
  }
  return found;
}

// Maps keys from `low` on to one of 512 digits.
struct Digits {
  std::uint32_t low;
  int shift;

  template <class Key>
  Key of(const Key& key) const {
    return (key - low) >> shift;
  }
};

// Keeps the picks above the cut and, of those equal to it, the first.
void leave_from(const Rank& cut, Picks& picks) {
  raise(cut.key, picks);
  if (cut.rank == cut.equal)
    return;
  std::vector<std::uint32_t> equal(picks.counts.size());
  for_each_tile_of(picks, [&](std::size_t t) {
    std::uint32_t keys[tile_elements];
    equal[t] = static_cast<std::uint32_t>(keys_where(
        picks.values(t), [&](const Words& key) { return key == cut.key; }, keys));
  });
  std::size_t room = cut.rank;
  for (std::size_t t = 0; t < picks.counts.size(); ++t)
    if (equal[t] <= room)
      room -= equal[t];
    else
      picks.leave(t, [&](std::uint32_t key) {
        const bool taken = key == cut.key && room > 0;
        room -= taken ? 1u : 0u;
        return key > cut.key || taken;
      });
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

Bracket probable_bracket(std::size_t elements, std::size_t k, const Draw& draw,
                         const std::function<void(std::size_t, std::uint32_t*)>& look,
                         Scratch& scratch) {
  const double mean = static_cast<double>(k) / static_cast<double>(elements) * sample_size;
  const double off = 5 * std::sqrt(mean) + 5;
  if (elements < 2 * sample_size || mean + off >= sample_size)
    return {};
  constexpr std::size_t parts = 16, looks = strata / parts;
  const std::span<std::uint32_t> keys(scratch.words(2 * sample_size), sample_size);
  std::vector<std::array<std::uint32_t, bins>> counts(parts);
  run_in_parallel(parts, [&](std::size_t part) {
    std::size_t first[looks];  // known in advance, so that many are fetched at once
    for (std::size_t i = 0; i < looks; ++i)
      first[i] = std::min(sampled_element(draw, elements, strata, part * looks + i),
                          elements - neighbours) /
                 neighbours * neighbours;
    std::uint32_t* const mine = keys.data() + part * looks * neighbours;
    for (std::size_t i = 0; i < looks; ++i)
      look(first[i], mine + i * neighbours);
    for (std::size_t i = 0; i < looks * neighbours; ++i)
      ++counts[part][bin_of(mine[i])];
  });
  const std::vector<std::size_t> all = sum_of(counts);
  const auto key_of_rank = [&](double rank) {
    std::size_t inside = static_cast<std::size_t>(rank);
    const std::uint32_t bin = static_cast<std::uint32_t>(digit_of_rank(all, inside));
    std::uint32_t* const near = keys.data() + sample_size;
    const std::size_t count = keys_where(
        keys, [&](const Words& here) { return here >> 20 == bin; }, near);
    std::vector<std::uint32_t> those(near, near + count);
    return kth_largest(those, inside).key;
  };
  return {std::max(1u, key_of_rank(mean + off)), mean - off < 1 ? no_key : key_of_rank(mean - off)};
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
  return first_key(static_cast<std::uint32_t>(digit_of_rank(sum_of(parts), k)));
}

void trim(std::size_t k, Picks& picks) {
  trim(k, {0, no_key}, {}, picks);
}

void trim(std::size_t k, const Bracket& bracket, std::span<float> u, Picks& picks) {
  if (picks.total() <= k)
    return;
  if (k == 0) {
    std::ranges::fill(picks.counts, 0u);
    return;
  }
  const int width = static_cast<int>(std::bit_width(bracket.high - bracket.low));
  const Digits digits{bracket.low, std::max(0, width - 9)};
  // Counts the digits of the keys up to the bracket's end.
  std::vector<std::array<std::uint32_t, 512>> counts(groups_of(picks));
  for_each_group_of(picks, [&](std::size_t group, std::size_t begin, std::size_t end) {
    std::uint32_t keys[tile_elements];
    for (std::size_t t = begin; t < end; ++t) {
      const std::size_t inside = keys_where(
          picks.values(t), [&](const Words& key) { return key <= bracket.high; }, keys);
      for (std::size_t i = 0; i < inside; ++i)
        ++counts[group][digits.of(keys[i])];
    }
  });
  const std::vector<std::size_t> sum = sum_of(counts);
  const std::size_t above = picks.total() - std::accumulate(sum.begin(), sum.end(), std::size_t{0});
  if (above >= k) {  // the sample misled about the upper end
    put_back(u, picks);
    trim(k, picks);
    return;
  }
  std::size_t rank = k - above;
  const std::uint32_t digit = static_cast<std::uint32_t>(digit_of_rank(sum, rank));
  if (digits.shift == 0) {
    leave_from({bracket.low + digit, rank, sum[digit]}, picks);
    return;
  }
  std::vector<std::vector<std::uint32_t>> near(counts.size());
  for_each_group_of(picks, [&](std::size_t group, std::size_t begin, std::size_t end) {
    std::uint32_t keys[tile_elements];
    for (std::size_t t = begin; t < end; ++t) {
      const std::size_t here = keys_where(
          picks.values(t),
          [&](const Words& key) { return (key <= bracket.high) & (digits.of(key) == digit); },
          keys);
      near[group].insert(near[group].end(), keys, keys + here);
    }
  });
  std::vector<std::uint32_t> all;
  for (const std::vector<std::uint32_t>& keys : near)
    all.insert(all.end(), keys.begin(), keys.end());
  leave_from(kth_largest(all, rank), picks);
}

void add_zeros(std::size_t k, std::span<float> u, Picks& picks) {
  std::size_t missing = k - picks.total();
  for (std::size_t t = 0; missing > 0; ++t) {
    const std::size_t begin = t * tile_elements, count = std::min(tile_elements, u.size() - begin);
    const auto write_back = [&](const auto& value_of) {
      for (std::size_t i = 0; i < picks.counts[t]; ++i)
        if (key_of_bits(picks.values(t)[i]) > picks.gone_above)
          u[picks.tile(t)[i]] = value_of(picks.values(t)[i]);
    };
    write_back([](std::uint32_t bits) { return std::bit_cast<float>(bits); });
    collect_tile(u.data(), t, begin, count, 0, picks);
    picks.leave(t, [&](std::uint32_t key) {
      const bool taken = key == 0 && missing > 0;
      missing -= taken ? 1u : 0u;
      return key != 0 || taken;
    });
    write_back([](std::uint32_t) { return 0.0f; });
  }
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
  if (k == 0)
    return add_and_collect(gradient, feedback, no_key, state);
  fit(state.residual, n);
  const std::span<float> u(state.residual);
  Bracket bracket = probable_bracket(
      n, k, draw,
      [&](std::size_t first, std::uint32_t* keys) {
        float scratch[neighbours];
        const float* g = gradient.tile(first, neighbours, scratch);
        put_keys(feedback ? load(g) + load(&u[first]) : load(g), keys);
      },
      state.scratch);
  // In fp16 a rounding error stays behind, and NaN has many bit patterns.
  const bool goes = gradient.precision() == Precision::fp32 && bracket.high < nan_key;
  Picks picks =
      add_and_collect(gradient, feedback, bracket.low, state, goes ? bracket.high : no_key);
  if (picks.total() < k && bracket.low > 1) {  // the sample misled: 1 in 10^6, or crafted data
    put_back(u, picks);
    bracket = {};
    collect(u, std::max(1u, certain_key(u, k)), picks);
  }
  if (picks.total() < k)
    add_zeros(k, u, picks);
  else
    trim(k, bracket, u, picks);
  return picks;
}

}  // namespace syncline

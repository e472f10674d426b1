#include "kernels/cpu/sparse.h"

#include <atomic>
#include <cstring>

#include "kernels/arithmetic/values.h"

namespace syncline {
namespace {

std::uint32_t get_index(const std::byte* message, std::size_t i) {
  std::uint32_t index = 0;
  std::memcpy(&index, message + 4 * i, sizeof index);
  return index;
}

// Each tile's picks begin there among all; the last number is how many there are.
std::vector<std::size_t> offsets_of(const Picks& picks) {
  std::vector<std::size_t> first(picks.counts.size() + 1);
  for (std::size_t t = 0; t < picks.counts.size(); ++t)
    first[t + 1] = first[t] + picks.counts[t];
  return first;
}

}  // namespace

Picks room_for_picks(std::size_t elements, Scratch& scratch) {
  if (elements > 0xffffffffu)
    throw std::invalid_argument("a tensor of " + std::to_string(elements) +
                                " elements: allowed are up to 4294967295, indices have 32 bits");
  std::uint32_t* words = scratch.words(2 * elements);
  return {words, words + elements, std::vector<std::uint32_t>(tiles_of(elements))};
}

std::uint32_t list_reaching(std::uint32_t threshold, const float* u, std::size_t count,
                            std::uint32_t first, std::uint32_t* indices, std::uint32_t* values) {
  std::uint32_t found = 0;
  Words lane_numbers;
  for (std::uint32_t lane = 0; lane < lane_width; ++lane)
    lane_numbers[lane] = lane;
  const std::size_t whole = count - count % lane_width;
  for (std::size_t i = 0; i < whole; i += lane_width) {
    const Floats here = load(u + i);
    const std::uint32_t reached = bits_of(keys_of(here) >= threshold);
    store_set(lane_numbers + (first + static_cast<std::uint32_t>(i)), reached, indices + found);
    store_set(words_of(here), reached, values + found);
    found += static_cast<std::uint32_t>(std::popcount(reached));
  }
  for (std::size_t i = whole; i < count; ++i)
    if (magnitude_key(u[i]) >= threshold) {
      indices[found] = first + static_cast<std::uint32_t>(i);
      values[found++] = std::bit_cast<std::uint32_t>(u[i]);
    }
  return found;
}

void collect_tile(const float* u, std::size_t tile, std::size_t begin, std::size_t count,
                  std::uint32_t threshold, Picks& picks) {
  picks.counts[tile] = list_reaching(threshold, u + begin, count, static_cast<std::uint32_t>(begin),
                                     picks.words + begin, picks.bits + begin);
}

void collect(std::span<const float> u, std::uint32_t threshold, Picks& picks) {
  for_each_tile(u.size(), [&](std::size_t t, std::size_t begin, std::size_t count) {
    collect_tile(u.data(), t, begin, count, threshold, picks);
  });
}

Picks add_and_collect(const Gradient& gradient, bool feedback, std::uint32_t threshold,
                      State& state) {
  Picks picks = room_for_picks(gradient.elements(), state.scratch);
  add_then(gradient, feedback, state, [&](std::size_t t, std::size_t begin, std::size_t count) {
    collect_tile(state.residual.data(), t, begin, count, threshold, picks);
  });
  return picks;
}

std::vector<std::uint32_t> keys_of(const Picks& picks) {
  const std::vector<std::size_t> first = offsets_of(picks);
  std::vector<std::uint32_t> keys(first.back());
  run_in_parallel(picks.counts.size(), [&](std::size_t t) {
    const std::span<const std::uint32_t> values = picks.values(t);
    for (std::size_t i = 0; i < values.size(); ++i)
      keys[first[t] + i] = key_of_bits(values[i]);
  });
  return keys;
}

void raise(std::uint32_t threshold, Picks& picks) {
  run_in_parallel(picks.counts.size(), [&](std::size_t t) {
    picks.leave(t, [=](std::uint32_t key) { return key >= threshold; });
  });
}

void write_sparse(const Picks& picks, Precision precision, std::span<float> u, Message& message) {
  const std::size_t total = picks.total(), width = value_bytes(precision);
  message.resize(total * (4 + width));
  const std::vector<std::size_t> first = offsets_of(picks);
  run_in_parallel(picks.counts.size(), [&](std::size_t t) {
    if (picks.counts[t] == 0)
      return;
    const std::span<const std::uint32_t> indices = picks.tile(t), values = picks.values(t);
    std::memcpy(message.data() + 4 * first[t], indices.data(), 4 * indices.size());
    for (const std::uint32_t index : indices)  // lines far apart: all misses at once
      __builtin_prefetch(u.data() + index, 1);
    std::byte* out = message.data() + 4 * total + width * first[t];
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const float value = std::bit_cast<float>(values[i]);
      put_value(value, precision, out + width * i);
      u[indices[i]] = sent_off(value, precision);
    }
  });
}

void write_sparse_plainly(const std::vector<std::uint32_t>& chosen, Precision precision,
                          std::span<float> u, Message& message) {
  const std::size_t width = value_bytes(precision);
  message.assign(chosen.size() * (4 + width), std::byte{0});
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    std::memcpy(message.data() + 4 * i, &chosen[i], 4);
    put_value(u[chosen[i]], precision, message.data() + 4 * chosen.size() + width * i);
    u[chosen[i]] = sent_off(u[chosen[i]], precision);
  }
}

void decode_sparse(const Settings&, std::span<const std::byte> message, Precision precision,
                   const Draw&, std::span<float> sum) {
  const std::size_t width = value_bytes(precision), total = message.size() / (4 + width);
  if (message.size() % (4 + width) != 0)
    throw CorruptMessage("corrupt sparse message: " + std::to_string(message.size()) +
                         " bytes, allowed are multiples of " + std::to_string(4 + width));
  // Ascending indices are distinct, so tiles of the list write to different elements.
  std::atomic<bool> ascending{true};
  for_each_tile(total, [&](std::size_t, std::size_t begin, std::size_t count) {
    bool good = true;
    for (std::size_t i = begin; i < begin + count; ++i)
      good = good && (i == 0 || get_index(message.data(), i - 1) < get_index(message.data(), i));
    if (!good)
      ascending = false;
  });
  if (!ascending || (total > 0 && get_index(message.data(), total - 1) >= sum.size()))
    throw CorruptMessage("corrupt sparse message: allowed are ascending indices below " +
                         std::to_string(sum.size()));
  for_each_tile(total, [&](std::size_t, std::size_t begin, std::size_t count) {
    for (std::size_t i = begin; i < begin + count; ++i)
      sum[get_index(message.data(), i)] +=
          get_value(message.data() + 4 * total + width * i, precision);
  });
}

}  // namespace syncline

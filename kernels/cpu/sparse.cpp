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

// Where each tile's picks begin among all picks; the last number is their total.
std::vector<std::size_t> offsets_of(const Picks& picks) {
  std::vector<std::size_t> first(picks.counts.size() + 1);
  for (std::size_t t = 0; t < picks.counts.size(); ++t)
    first[t + 1] = first[t] + picks.counts[t];
  return first;
}

// Lists the values that reach the threshold, out of `count` values: sixteen(i) returns those from i
// on, one(i) a single one.
template <class Sixteen, class One>
std::uint32_t list_of(std::uint32_t threshold, std::size_t count, std::uint32_t first,
                      std::uint32_t* indices, std::uint32_t* values, const Sixteen& sixteen,
                      const One& one) {
  std::uint32_t found = 0;
  Words lane_numbers;
  for (std::uint32_t lane = 0; lane < lane_width; ++lane)
    lane_numbers[lane] = lane;
  const std::size_t whole = count - count % lane_width;
  for (std::size_t i = 0; i < whole; i += lane_width) {
    const Floats here = sixteen(i);
    const std::uint32_t reached = reaching(keys_of(here), threshold);
    store_set(lane_numbers + (first + static_cast<std::uint32_t>(i)), reached, indices + found);
    store_set(words_of(here), reached, values + found);
    found += static_cast<std::uint32_t>(std::popcount(reached));
  }
  for (std::size_t i = whole; i < count; ++i)
    if (const float here = one(i); magnitude_key(here) >= threshold) {
      indices[found] = first + static_cast<std::uint32_t>(i);
      values[found++] = std::bit_cast<std::uint32_t>(here);
    }
  return found;
}

// Writes values as sent in fp32.
void put_values(std::span<const std::uint32_t> bits, std::byte* out) {
  const Floats nan = Floats{} + std::numeric_limits<float>::quiet_NaN();
  const std::size_t whole = bits.size() - bits.size() % lane_width;
  for (std::size_t i = 0; i < whole; i += lane_width) {
    Words here;
    std::memcpy(&here, &bits[i], sizeof here);
    const Floats values = floats_of(here), sent = values == values ? values : nan;
    std::memcpy(out + 4 * i, &sent, sizeof sent);
  }
  for (std::size_t i = whole; i < bits.size(); ++i)
    put_value(std::bit_cast<float>(bits[i]), Precision::fp32, out + 4 * i);
}

}  // namespace

Picks room_for_picks(std::size_t elements, Scratch& scratch) {
  if (elements > 0xffffffffu)
    throw std::invalid_argument(
        "a tensor of " + std::to_string(elements) +
        " elements: at most 4294967295 are allowed, as indices have 32 bits");
  const std::size_t tiles = tiles_of(elements), each = tiles * picks_stride + 37 * lane_width;
  std::uint32_t* words = scratch.words(2 * each);
  return {words, words + each, std::vector<std::uint32_t>(tiles)};
}

std::uint32_t list_reaching(std::uint32_t threshold, const float* u, std::size_t count,
                            std::uint32_t first, std::uint32_t* indices, std::uint32_t* values) {
  return list_of(
      threshold, count, first, indices, values, [&](std::size_t i) { return load(u + i); },
      [&](std::size_t i) { return u[i]; });
}

void collect_tile(const float* u, std::size_t tile, std::size_t begin, std::size_t count,
                  std::uint32_t threshold, Picks& picks) {
  picks.counts[tile] = list_reaching(threshold, u + begin, count, static_cast<std::uint32_t>(begin),
                                     picks.tile(tile).data(), picks.values(tile).data());
}

void collect(std::span<const float> u, std::uint32_t threshold, Picks& picks) {
  for_each_tile(u.size(), [&](std::size_t t, std::size_t begin, std::size_t count) {
    collect_tile(u.data(), t, begin, count, threshold, picks);
  });
}

Picks add_and_collect(const Gradient& gradient, bool feedback, std::uint32_t threshold,
                      State& state, std::uint32_t gone_above) {
  const std::size_t n = gradient.elements();
  fit(state.residual, n);
  Picks picks = room_for_picks(n, state.scratch);
  picks.gone_above = gone_above;
  const auto add_and_list = [&](std::size_t t, std::size_t begin, std::size_t count) {
    float scratch[tile_elements];
    const float* g = gradient.tile(begin, count, scratch);
    float* u = state.residual.data() + begin;
    picks.counts[t] = list_of(
        threshold, count, static_cast<std::uint32_t>(begin), picks.tile(t).data(),
        picks.values(t).data(),
        [=](std::size_t i) {
          const Floats sum = feedback ? load(g + i) + load(u + i) : load(g + i), zero = {};
          store(keys_of(sum) > gone_above ? zero : sum, u + i);
          return sum;
        },
        [&](std::size_t i) {
          const float sum = feedback ? g[i] + u[i] : g[i];
          u[i] = magnitude_key(sum) > gone_above ? 0.0f : sum;
          return sum;
        });
  };
  for_each_strip(
      n, [&](std::size_t begin, std::size_t count) { for_tiles_in(begin, count, add_and_list); });
  return picks;
}

void put_back(std::span<float> u, Picks& picks) {
  for_each_tile_of(picks, [&](std::size_t t) {
    for (std::size_t i = 0; i < picks.counts[t]; ++i)
      u[picks.tile(t)[i]] = std::bit_cast<float>(picks.values(t)[i]);
  });
  picks.gone_above = no_key;
}

std::vector<std::uint32_t> keys_of(const Picks& picks) {
  const std::vector<std::size_t> first = offsets_of(picks);
  std::vector<std::uint32_t> keys(first.back());
  for_each_tile_of(picks, [&](std::size_t t) {
    const std::span<const std::uint32_t> values = picks.values(t);
    for (std::size_t i = 0; i < values.size(); ++i)
      keys[first[t] + i] = key_of_bits(values[i]);
  });
  return keys;
}

void raise(std::uint32_t threshold, Picks& picks) {
  for_each_tile_of(picks, [&](std::size_t t) {
    std::uint32_t* const indices = picks.tile(t).data();
    std::uint32_t* const values = picks.values(t).data();
    const std::uint32_t count = picks.counts[t], whole = count - count % std::uint32_t{lane_width};
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < whole; i += lane_width) {
      Words places, bits;
      std::memcpy(&places, indices + i, sizeof places);
      std::memcpy(&bits, values + i, sizeof bits);
      const std::uint32_t stay = reaching(bits & 0x7fffffffu, threshold);
      store_set(places, stay, indices + kept);
      store_set(bits, stay, values + kept);
      kept += static_cast<std::uint32_t>(std::popcount(stay));
    }
    for (std::uint32_t i = whole; i < count; ++i) {
      const bool stays = key_of_bits(values[i]) >= threshold;
      indices[kept] = indices[i];
      values[kept] = values[i];
      kept += stays ? 1u : 0u;
    }
    picks.counts[t] = kept;
  });
}

void write_sparse(const Picks& picks, Precision precision, std::span<float> u, Message& message) {
  const std::size_t total = picks.total(), width = value_bytes(precision);
  message.resize(total * (4 + width));
  const std::vector<std::size_t> first = offsets_of(picks);
  for_each_tile_of(picks, [&](std::size_t t) {
    if (picks.counts[t] == 0)
      return;
    const std::span<const std::uint32_t> indices = picks.tile(t), values = picks.values(t);
    std::memcpy(message.data() + 4 * first[t], indices.data(), 4 * indices.size());
    std::byte* const out = message.data() + 4 * total + width * first[t];
    std::uint32_t in_u[tile_elements], count = 0;  // places to subtract from
    for (std::size_t i = 0; i < indices.size(); ++i) {
      in_u[count] = indices[i];
      count += key_of_bits(values[i]) > picks.gone_above ? 0u : 1u;
    }
    for (std::size_t i = 0; i < count; ++i)  // far apart in memory: start all cache misses at once
      __builtin_prefetch(u.data() + in_u[i], 1);
    if (precision == Precision::fp32)
      put_values(values, out);
    else
      for (std::size_t i = 0; i < values.size(); ++i)
        put_value(std::bit_cast<float>(values[i]), precision, out + width * i);
    for (std::size_t i = 0; i < count; ++i)
      u[in_u[i]] = sent_off(u[in_u[i]], precision);
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

namespace {

// The number of pairs in a message. Throws CorruptMessage unless its indices ascend below
// `elements`.
std::size_t checked_pairs(MessageBytes message, std::size_t width, std::size_t elements) {
  const std::size_t total = message.size() / (4 + width);
  if (message.size() % (4 + width) != 0)
    throw CorruptMessage("corrupt sparse message: " + std::to_string(message.size()) +
                         " bytes, allowed are multiples of " + std::to_string(4 + width));
  // Ascending indices are distinct, so tiles of pairs write to different elements.
  std::atomic<bool> ascending{true};
  for_each_tile(total, [&](std::size_t, std::size_t begin, std::size_t count) {
    bool good = true;
    for (std::size_t i = begin; i < begin + count; ++i)
      good = good && (i == 0 || get_index(message.data(), i - 1) < get_index(message.data(), i));
    if (!good)
      ascending = false;
  });
  if (!ascending || (total > 0 && get_index(message.data(), total - 1) >= elements))
    throw CorruptMessage("corrupt sparse message: allowed are ascending indices below " +
                         std::to_string(elements));
  return total;
}

struct Pairs {
  const std::byte* indices;
  std::size_t count;

  void add(std::size_t begin, std::size_t end, Precision precision, std::span<float> sum) const {
    const std::byte* const values = indices + 4 * count;
    const std::size_t width = value_bytes(precision);
    for (std::size_t i = begin; i < end; ++i)
      sum[get_index(indices, i)] += get_value(values + width * i, precision);
  }
  // The first pair whose index is `element` or above.
  std::size_t from(std::size_t element) const {
    return first_after(count, [&](std::size_t i) { return get_index(indices, i) < element; });
  }
};

}  // namespace

void decode_sparse(const Settings&, MessageBytes message, Precision precision, const Draw&,
                   std::span<float> sum) {
  const Pairs pairs{message.data(), checked_pairs(message, value_bytes(precision), sum.size())};
  for_each_tile(pairs.count, [&](std::size_t, std::size_t begin, std::size_t count) {
    pairs.add(begin, begin + count, precision, sum);
  });
}

void decode_sparse_together(const Settings& settings, const Messages& messages, Precision precision,
                            const Draw& draw, std::span<float> sum) {
  if (messages.size() == 1) {
    decode_sparse(settings, messages[0], precision, draw, sum);
    return;
  }
  std::vector<Pairs> all;
  for (const MessageBytes message : messages)
    all.push_back({message.data(), checked_pairs(message, value_bytes(precision), sum.size())});
  for_each_strip(sum.size(), [&](std::size_t begin, std::size_t count) {
    for (const Pairs& pairs : all)
      pairs.add(pairs.from(begin), pairs.from(begin + count), precision, sum);
  });
}

}  // namespace syncline

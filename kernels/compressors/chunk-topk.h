// Chunk-wise top-k's arithmetic and message, shared by its versions (SparseLoCo, Sarfi et al.,
// arXiv 2508.15706).
#pragma once

#include "kernels/arithmetic/keys.h"
#include "kernels/arithmetic/moments.h"
#include "kernels/arithmetic/packing.h"
#include "kernels/compressor.h"

namespace syncline {

inline constexpr unsigned level_bits =
    2;  // of the code of a value: its sign, and one of two levels

// Where everything lies. The elements sent are numbered chunk after chunk.
struct Chunks {
  std::size_t elements = 0;
  std::size_t chunk = 0;      // elements of every chunk but the last
  std::size_t per_chunk = 0;  // elements sent of every chunk but the last
  std::size_t in_last = 0;    // of a last one that is not whole
  unsigned index_bits = 0;    // of a place inside a chunk

  constexpr std::size_t count() const { return (elements + chunk - 1) / chunk; }
  constexpr std::size_t sent() const { return elements / chunk * per_chunk + in_last; }
  constexpr std::size_t sent_of(std::size_t c) const {
    return (c + 1) * chunk <= elements ? per_chunk : in_last;
  }
  constexpr std::size_t elements_of(std::size_t c) const {
    return (c + 1) * chunk <= elements ? chunk : elements - c * chunk;
  }
  // Two levels in fp32, then the places, then the codes.
  constexpr std::size_t indices_begin() const { return 2 * sizeof(float); }
  constexpr std::size_t codes_begin() const {
    return indices_begin() + packed_bytes(sent(), index_bits);
  }
  constexpr std::size_t bytes() const { return codes_begin() + packed_bytes(sent(), level_bits); }
};

// Sums of the magnitudes that are sent: all of them, or those of either level. Lane j mod 32 of a
// chunk adds its j-th value, in double, so that no sum of finite magnitudes overflows; lanes and
// chunks are added in the order of order.h.
struct LevelSums {
  double low = 0, lows = 0;  // sum, how many
  double high = 0, highs = 0;

  constexpr void add(float value, std::uint32_t high_key) {
    const bool is_high = magnitude_key(value) >= high_key;
    const double magnitude = absolute_value(value);
    low += is_high ? 0.0 : magnitude;
    lows += is_high ? 0.0 : 1.0;
    high += is_high ? magnitude : 0.0;
    highs += is_high ? 1.0 : 0.0;
  }
};

constexpr LevelSums operator+(const LevelSums& a, const LevelSums& b) {
  return {a.low + b.low, a.lows + b.lows, a.high + b.high, a.highs + b.highs};
}

// Magnitudes from the mean of all on are of the high level; a level is sent as the mean of its own.
constexpr float mean_of(double sum, double count) {
  return count > 0 ? static_cast<float>(sum / count) : 0.0f;
}
constexpr std::uint32_t high_key_of(const LevelSums& all) {
  return all.lows > 0 ? key_from(mean_of(all.low, all.lows)) : no_key;
}

constexpr std::uint8_t level_code(float value, std::uint32_t high_key) {
  return static_cast<std::uint8_t>((value < 0 ? 1u : 0u) |
                                   (magnitude_key(value) >= high_key ? 2u : 0u));
}
constexpr float from_level_code(std::uint32_t code, float low, float high) {
  const float magnitude = (code & 2u) != 0 ? high : low;
  return (code & 1u) != 0 ? -magnitude : magnitude;
}

// Of `value`, which was sent like this, so much stays for the next step.
constexpr float kept_of(float value, float sent, float decay) {
  return magnitude_key(sent) < infinite_key ? decay * (value - sent) : 0.0f;
}

// Writes `count` numbers of `bits` bits, number(0) and on, the lowest bit first.
template <class Number>
constexpr void put_numbers(std::size_t count, unsigned bits, std::byte* out, const Number& number) {
  std::uint32_t waiting = 0;
  unsigned used = 0;
  for (std::size_t i = 0; i < count; ++i) {
    waiting |= static_cast<std::uint32_t>(number(i)) << used;
    for (used += bits; used >= 8; used -= 8, waiting >>= 8)
      *out++ = static_cast<std::byte>(waiting & 0xffu);
  }
  if (used > 0)
    *out = static_cast<std::byte>(waiting & 0xffu);
}

// Number i of those; reads no byte that it has no part of.
constexpr std::uint32_t get_number(const std::byte* in, std::size_t i, unsigned bits) {
  const std::size_t first = i * bits / 8;
  const unsigned skipped = static_cast<unsigned>(i * bits % 8);
  std::uint32_t word = 0;
  for (unsigned byte = 0; 8 * byte < skipped + bits; ++byte)
    word |= static_cast<std::uint32_t>(in[first + byte]) << 8 * byte;
  return word >> skipped & ((1u << bits) - 1);
}

Chunks chunks_of(const Settings& settings, std::size_t elements);
float decay_of(const Settings& settings);

}  // namespace syncline

// What the sparsifiers share: finding every element whose magnitude reaches a threshold, and the
// message they make of it: k indices (u32, ascending), then k values (fp32, or fp16 for fp16
// gradients). 8 bytes per element sent, as the published codes count (algorithms.md 1.3).
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "kernels/compressor.h"
#include "kernels/feedback.h"
#include "kernels/keys.h"
#include "kernels/lanes.h"
#include "kernels/tiles.h"

namespace syncline {

// Indices chosen tile by tile, ascending. Tile t's lie at words[t * tile_elements], counts[t] of
// them.
struct Picks {
  std::uint32_t* words = nullptr;
  std::vector<std::uint32_t> counts;

  std::size_t total() const {
    return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  }
  std::span<std::uint32_t> tile(std::size_t t) const {
    return {words + t * tile_elements, counts[t]};
  }
};

// Room for the picks of n elements. Throws when an index would not fit the message.
Picks room_for_picks(std::size_t elements, Scratch& scratch);

// The indices in one tile with key >= threshold; returns how many. Blocks without any, nearly all
// of them at usual densities, cost a vector comparison and one branch.
inline std::uint32_t collect_tile(const float* u, std::size_t begin, std::size_t count,
                                  std::uint32_t threshold, std::uint32_t* out) {
  std::uint32_t found = 0;
  const std::size_t whole = count - count % lane_width;
  for (std::size_t i = 0; i < whole; i += lane_width) {
    std::uint32_t bits = bits_of(keys_of(load(u + begin + i)) >= threshold);
    for (; bits != 0; bits &= bits - 1)
      out[found++] = static_cast<std::uint32_t>(begin + i) +
                     static_cast<std::uint32_t>(std::countr_zero(bits));
  }
  for (std::size_t i = whole; i < count; ++i)
    if (magnitude_key(u[begin + i]) >= threshold)
      out[found++] = static_cast<std::uint32_t>(begin + i);
  return found;
}

// One pass over the tensor: `make_tile(begin, count)` leaves u in u_values, then it is searched.
template <class Make>
void collect(const float* u_values, std::size_t elements, std::uint32_t threshold, Picks& picks,
             const Make& make_tile) {
  for_each_tile(elements, [&](std::size_t t, std::size_t begin, std::size_t count) {
    make_tile(begin, count);
    picks.counts[t] = collect_tile(u_values, begin, count, threshold, picks.words + begin);
  });
}

inline void collect(const float* u_values, std::size_t elements, std::uint32_t threshold,
                    Picks& picks) {
  collect(u_values, elements, threshold, picks, [](std::size_t, std::size_t) {});
}

// Drops the picks whose key is below the threshold: a higher threshold needs no new pass.
void raise(std::span<const float> u, std::uint32_t threshold, Picks& picks);

// The message of these picks; what is sent is taken off u, exactly (see sent_off).
void write_sparse(const Picks& picks, Precision precision, std::vector<float>& u, Message& message);

// The same from a plain list of ascending indices: the reference.
void write_sparse_plainly(const std::vector<std::uint32_t>& chosen, Precision precision,
                          std::vector<float>& u, Message& message);

// u without what the receiver gets of it: zero in fp32; in fp16 the rounding error, which fp32
// holds exactly. A value that is not finite leaves nothing behind: it would poison the residual for
// ever.
constexpr float sent_off(float u, Precision precision) {
  return precision == Precision::fp32 || magnitude_key(u) >= 0x7f800000u
             ? 0.0f
             : u - as_sent(u, precision);
}

void decode_sparse(const Settings&, std::span<const std::byte> message, Precision precision,
                   const Draw&, std::span<float> sum);

constexpr double sparse_bytes(std::size_t selected, Precision precision) {
  return static_cast<double>(selected * (4 + value_bytes(precision)));
}

inline Parameter density_parameter() {
  return {.name = "density",
          .sentence = "share of the elements that is sent",
          .fallback = "0.001",
          .minimum = 0,
          .maximum = 1};
}

// Bytes when `density` of the elements is sent: by methods that keep to it, and by those that aim
// at it and take anything from k - k / part to k + k / part elements.
inline WireSize bytes_at_density(const Settings& settings, std::size_t elements,
                                 Precision precision) {
  return {sparse_bytes(wanted(settings.number("density"), elements), precision), true};
}

template <std::size_t part>
WireSize bytes_near_density(const Settings& settings, std::size_t elements, Precision precision) {
  const std::size_t k = wanted(settings.number("density"), elements);
  return {sparse_bytes(k, precision), sparse_bytes(k - k / part, precision),
          sparse_bytes(std::min(k + k / part, elements), precision)};
}

}  // namespace syncline

// Selection chunk by chunk: what its compressors share, whatever they send for each value.
#pragma once

#include "kernels/arithmetic/keys.h"
#include "kernels/arithmetic/packing.h"
#include "kernels/compressor.h"

namespace syncline {

// Elements sent are numbered chunk after chunk.
struct Chunks {
  std::size_t elements = 0;
  std::size_t chunk = 0;      // elements of every chunk but the last
  std::size_t per_chunk = 0;  // elements sent from every chunk but the last
  std::size_t in_last = 0;    // from a last chunk that is not whole
  unsigned index_bits = 0;    // for a place inside a chunk

  constexpr std::size_t count() const { return (elements + chunk - 1) / chunk; }
  constexpr std::size_t sent() const { return elements / chunk * per_chunk + in_last; }
  constexpr std::size_t sent_of(std::size_t c) const {
    return (c + 1) * chunk <= elements ? per_chunk : in_last;
  }
  constexpr std::size_t elements_of(std::size_t c) const {
    return (c + 1) * chunk <= elements ? chunk : elements - c * chunk;
  }
};

inline Chunks chunks_of(const Settings& settings, std::size_t elements) {
  Chunks chunks{.elements = elements, .chunk = std::stoul(settings.word("chunk"))};
  const double density = density_of(settings);
  chunks.per_chunk = wanted(density, chunks.chunk);
  chunks.in_last = wanted(density, elements % chunks.chunk);
  chunks.index_bits = static_cast<unsigned>(std::countr_zero(chunks.chunk));
  return chunks;
}

inline OwnOption chunk_option() {
  return choice("chunk", "elements of a chunk; each chunk is selected on its own", "4096",
                {"256", "1024", "4096"});
}
inline OwnOption decay_option() {
  return unpriced(number("decay", "share of the unsent rest that the next step keeps", "1", 0, 1));
}
inline float decay_of(const Settings& settings) {
  return static_cast<float>(settings.number("decay"));
}

// What stays of `value` for the next step after `sent` was sent for it.
constexpr float kept_of(float value, float sent, float decay) {
  return magnitude_key(sent) < infinite_key ? decay * (value - sent) : 0.0f;
}

// Writes `count` numbers of `bits` bits each, number(0) first, lowest bit first.
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

}  // namespace syncline

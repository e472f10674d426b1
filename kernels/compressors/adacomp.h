// The arithmetic and the message of AdaComp, shared by its versions (Chen et al., AAAI 2018).
//
// Elements are cut into bins, and whole bins into packs of at most a tile, which threads and blocks
// take. Message: the scale (fp32); for each pack, where its codes begin (u32); then the codes, one
// for each element sent and one for each bin that sends none, of 1 byte for bins below 64 elements
// and 2 bytes for others. A code is a place in the bin, a sign, and whether it is its bin's last.
#pragma once

#include "kernels/arithmetic/keys.h"
#include "kernels/arithmetic/order.h"
#include "kernels/compressor.h"

namespace syncline {

struct BinCode {
  std::uint32_t place = 0;  // in its bin; BinMessage::nothing() for a bin that sends nothing
  bool negative = false;
  bool last = false;
};

struct BinMessage {
  std::size_t elements = 0;
  std::size_t bin = 0;  // elements of every bin but the last

  constexpr std::size_t bins() const { return (elements + bin - 1) / bin; }
  constexpr std::size_t of_pack() const { return tile_elements / bin * bin; }  // elements
  constexpr std::size_t packs() const { return (elements + of_pack() - 1) / of_pack(); }
  constexpr std::size_t first_of(std::size_t pack) const { return pack * of_pack(); }
  constexpr std::size_t elements_of(std::size_t pack) const {
    return std::min(of_pack(), elements - first_of(pack));
  }
  constexpr std::size_t bins_of(std::size_t pack) const {
    return (elements_of(pack) + bin - 1) / bin;
  }

  constexpr unsigned place_bits() const { return bin < 64 ? 6 : 14; }
  constexpr std::size_t width() const { return (place_bits() + 2) / 8; }
  constexpr std::uint32_t nothing() const { return (1u << place_bits()) - 1; }
  constexpr std::size_t begins_begin() const { return sizeof(float); }
  constexpr std::size_t codes_begin() const { return begins_begin() + 4 * packs(); }
  constexpr std::size_t bytes(std::size_t codes) const { return codes_begin() + width() * codes; }
  constexpr std::size_t codes_in(std::size_t bytes) const {
    return (bytes - codes_begin()) / width();
  }

  constexpr void put(const BinCode& code, std::size_t at, std::byte* message) const {
    const std::uint32_t word = code.place | (code.negative ? 1u : 0u) << place_bits() |
                               (code.last ? 2u : 0u) << place_bits();
    std::byte* const out = message + codes_begin() + at * width();
    out[0] = static_cast<std::byte>(word & 0xffu);
    if (width() > 1)
      out[1] = static_cast<std::byte>(word >> 8);
  }
  constexpr BinCode get(const std::byte* message, std::size_t at) const {
    const std::byte* const in = message + codes_begin() + at * width();
    std::uint32_t word = static_cast<std::uint32_t>(in[0]);
    if (width() > 1)
      word |= static_cast<std::uint32_t>(in[1]) << 8;
    return {word & nothing(), (word >> place_bits() & 1u) != 0, (word >> place_bits() & 2u) != 0};
  }
};

inline constexpr const char* bin_name = "bin";
inline BinMessage bin_message(const Settings& settings, std::size_t elements) {
  return {elements, static_cast<std::size_t>(settings.number(bin_name))};
}

// What a pack sends, before its codes are made: a word for each code, in order, which holds an
// element of the pack, the sign, and whether its bin sends nothing.
constexpr std::uint32_t sent_word(std::size_t element, bool negative, bool nothing) {
  return static_cast<std::uint32_t>(element << 2 | (negative ? 2u : 0u) | (nothing ? 1u : 0u));
}
inline constexpr std::uint32_t no_word = ~0u;  // after the last
constexpr BinCode code_of(const BinMessage& bins, std::uint32_t word, std::uint32_t next) {
  const auto bin = static_cast<std::uint32_t>(bins.bin);
  return {(word & 1u) != 0 ? bins.nothing() : (word >> 2) % bin, (word & 2u) != 0,
          (word >> 2) / bin != (next >> 2) / bin};
}

// The smallest key of u + g that is sent from a bin whose largest key of u is `top`. A bin of zeros
// sends nothing.
constexpr std::uint32_t sent_from(std::uint32_t top) {
  return top > 0 ? top : no_key;
}

// The scale: the mean of the bins' largest magnitudes, whose sum this is.
constexpr float mean_of_bins(double sum, std::size_t bins) {
  return bins > 0 ? static_cast<float>(sum / static_cast<double>(bins)) : 0.0f;
}

// What stays of u after its sign and the scale were sent.
constexpr float left_of_sign(float u, bool negative, float scale) {
  return magnitude_key(scale) < infinite_key ? u - (negative ? -scale : scale) : 0.0f;
}

}  // namespace syncline

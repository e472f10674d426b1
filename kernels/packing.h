// Fixed-width codes side by side: element i's lie at bits [i * width, (i + 1) * width) of the
// message, lowest bit first. Eight codes fill `width` whole bytes, so tiles never share a byte.
#pragma once

#include <cstdint>
#include <cstring>

namespace syncline {

constexpr std::size_t packed_bytes(std::size_t elements, unsigned width) {
  return (elements * width + 7) / 8;
}

// `count` codes of at most 8 bits, from the start of a tile.
inline void pack(const std::uint8_t* codes, std::size_t count, unsigned width, std::byte* out) {
  if (width == 4) {  // the published default, in a form that vectorises
    for (std::size_t i = 0; i + 1 < count; i += 2)
      out[i / 2] = static_cast<std::byte>(codes[i] | codes[i + 1] << 4);
    if (count % 2 != 0)
      out[count / 2] = static_cast<std::byte>(codes[count - 1]);
    return;
  }
  for (std::size_t i = 0; i < count; i += 8) {
    const std::size_t group = count - i < 8 ? count - i : 8;
    std::uint64_t word = 0;
    for (std::size_t j = 0; j < group; ++j)
      word |= std::uint64_t{codes[i + j]} << (j * width);
    std::memcpy(out + i / 8 * width, &word, packed_bytes(group, width));
  }
}

inline void unpack(const std::byte* in, std::size_t count, unsigned width, std::uint8_t* codes) {
  const std::uint64_t mask = (1u << width) - 1;
  for (std::size_t i = 0; i < count; i += 8) {
    const std::size_t group = count - i < 8 ? count - i : 8;
    std::uint64_t word = 0;
    std::memcpy(&word, in + i / 8 * width, packed_bytes(group, width));
    for (std::size_t j = 0; j < group; ++j)
      codes[i + j] = static_cast<std::uint8_t>(word >> (j * width) & mask);
  }
}

// One code, plainly, bit by bit.
inline void put_code(std::uint8_t code, std::size_t element, unsigned width, std::byte* out) {
  for (unsigned bit = 0; bit < width; ++bit) {
    const std::size_t position = element * width + bit;
    if ((code >> bit & 1) != 0)
      out[position / 8] |= static_cast<std::byte>(1u << position % 8);
  }
}

inline std::uint8_t get_code(const std::byte* in, std::size_t element, unsigned width) {
  unsigned code = 0;
  for (unsigned bit = 0; bit < width; ++bit) {
    const std::size_t position = element * width + bit;
    code |= (std::to_integer<unsigned>(in[position / 8]) >> position % 8 & 1u) << bit;
  }
  return static_cast<std::uint8_t>(code);
}

}  // namespace syncline

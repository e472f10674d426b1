// Fixed-width codes side by side: element i's code is bits [i * width, (i + 1) * width) of the
// message, lowest bit first. Eight codes fill `width` whole bytes, so tiles never share a byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace syncline {

constexpr std::size_t packed_bytes(std::size_t elements, unsigned width) {
  return (elements * width + 7) / 8;
}

// A mask of the lowest `width` bits in each of `parts` equal parts of a word.
constexpr std::uint64_t low_bits(unsigned parts, unsigned width) {
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < parts; ++i)
    bits |= ((std::uint64_t{1} << width) - 1) << (64 / parts * i);
  return bits;
}

// In each of `parts` parts of a word, moves the lowest `width` bits of both halves together;
// `apart` moves them back.
template <unsigned parts, unsigned width>
constexpr std::uint64_t closer(std::uint64_t word) {
  constexpr std::uint64_t low = low_bits(parts, width);
  return (word & low) | (word >> (32 / parts - width) & low << width);
}

template <unsigned parts, unsigned width>
constexpr std::uint64_t apart(std::uint64_t word) {
  constexpr std::uint64_t low = low_bits(parts, width);
  return (word & low) | (word & low << width) << (32 / parts - width);
}

// Moves eight codes, one per byte, into the lowest 8 x width bits: neighbours first, then pairs,
// then fours; `spread_out` moves them back.
template <unsigned width>
constexpr std::uint64_t closed_up(std::uint64_t codes) {
  return closer<1, 4 * width>(closer<2, 2 * width>(closer<4, width>(codes)));
}

template <unsigned width>
constexpr std::uint64_t spread_out(std::uint64_t bits) {
  return apart<4, width>(apart<2, 2 * width>(apart<1, 4 * width>(bits)));
}

// A type that holds eight codes: of exactly their size where there is one, because compilers
// vectorise that.
template <unsigned width>
using Packed = std::conditional_t<
    width == 1, std::uint8_t,
    std::conditional_t<width == 2, std::uint16_t,
                       std::conditional_t<width == 4, std::uint32_t, std::uint64_t>>>;

// Packs `count` codes of `width` bits, from the start of a tile.
template <unsigned width>
void pack(const std::uint8_t* __restrict codes, std::size_t count, std::byte* __restrict out) {
  const std::size_t whole = count / 8, rest = count % 8;
  const auto eight = [&](std::size_t i, std::size_t present, std::size_t bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, codes + 8 * i, present);
    const auto packed = static_cast<Packed<width>>(closed_up<width>(word));
    std::memcpy(out + i * width, &packed, bytes);
  };
  for (std::size_t i = 0; i < whole; ++i)
    eight(i, 8, width);
  eight(whole, rest, packed_bytes(rest, width));
}

template <unsigned width>
void unpack(const std::byte* __restrict in, std::size_t count, std::uint8_t* __restrict codes) {
  const std::size_t whole = count / 8, rest = count % 8;
  const auto eight = [&](std::size_t i, std::size_t present, std::size_t bytes) {
    Packed<width> packed = 0;
    std::memcpy(&packed, in + i * width, bytes);
    const std::uint64_t word = spread_out<width>(packed);
    std::memcpy(codes + 8 * i, &word, present);
  };
  for (std::size_t i = 0; i < whole; ++i)
    eight(i, 8, width);
  eight(whole, rest, packed_bytes(rest, width));
}

// The same for a width known only at run time. The compiler makes a loop of shifts and masks for
// each width.
inline void pack(const std::uint8_t* codes, std::size_t count, unsigned width, std::byte* out) {
  using Pack = void (*)(const std::uint8_t*, std::size_t, std::byte*);
  constexpr Pack of_width[] = {nullptr, pack<1>, pack<2>, pack<3>, pack<4>,
                               pack<5>, pack<6>, pack<7>, pack<8>};
  of_width[width](codes, count, out);
}

inline void unpack(const std::byte* in, std::size_t count, unsigned width, std::uint8_t* codes) {
  using Unpack = void (*)(const std::byte*, std::size_t, std::uint8_t*);
  constexpr Unpack of_width[] = {nullptr,   unpack<1>, unpack<2>, unpack<3>, unpack<4>,
                                 unpack<5>, unpack<6>, unpack<7>, unpack<8>};
  of_width[width](in, count, codes);
}

// Writes number i of a list of numbers of `bits` bits each, lowest bit first; plainly, bit by bit,
// into zeros.
inline void put_number(std::uint32_t number, std::size_t i, unsigned bits, std::byte* out) {
  for (unsigned bit = 0; bit < bits; ++bit) {
    const std::size_t position = i * bits + bit;
    if ((number >> bit & 1) != 0)
      out[position / 8] |= static_cast<std::byte>(1u << position % 8);
  }
}

// Reads number i of such a list; reads no byte outside it.
constexpr std::uint32_t get_number(const std::byte* in, std::size_t i, unsigned bits) {
  const std::size_t first = i * bits / 8;
  const unsigned skipped = static_cast<unsigned>(i * bits % 8);
  std::uint32_t word = 0;
  for (unsigned byte = 0; 8 * byte < skipped + bits; ++byte)
    word |= static_cast<std::uint32_t>(in[first + byte]) << 8 * byte;
  return word >> skipped & ((1u << bits) - 1);
}

}  // namespace syncline

// The recursive (omega) code of Elias, as QSGD uses it (arXiv 1610.02132, appendix A): write a
// final 0; while k > 1, prepend the binary form of k, and continue with the number of bits just
// prepended minus one. The printed encoder stops at k = 0; only stopping at 1, the standard code,
// matches the printed decoder.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/compressor.h"

namespace syncline {

struct Bits {  // the low `count` bits of a word, the highest first
  std::uint64_t word = 0;
  unsigned count = 0;
};

constexpr Bits operator+(Bits a, Bits b) {  // concatenates
  return {a.word << b.count | b.word, a.count + b.count};
}

constexpr Bits elias(std::uint32_t k) {
  Bits bits{0, 1};
  while (k > 1) {
    const unsigned width = static_cast<unsigned>(std::bit_width(k));
    bits = Bits{k, width} + bits;
    k = width - 1;
  }
  return bits;
}

class BitWriter {  // highest bit of each byte first
 public:
  explicit BitWriter(Message& bytes) : bytes_(bytes) {}
  void put(Bits bits) {
    for (unsigned left = bits.count; left > 0;) {
      if (used_ == 0)
        bytes_.push_back(std::byte{0});
      const unsigned taken = std::min(left, 8 - used_);
      left -= taken;
      bytes_.back() |=
          static_cast<std::byte>((bits.word >> left & ((1u << taken) - 1)) << (8 - used_ - taken));
      used_ = (used_ + taken) % 8;
    }
  }
  void align() { used_ = 0; }  // the next code starts a byte

 private:
  Message& bytes_;
  unsigned used_ = 0;
};

// Throws CorruptMessage for bits that no encoder writes.
class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::uint64_t get(unsigned count) {
    if (count > 8 * bytes_.size() - position_)
      fail("the message ends inside a code");
    std::uint64_t value = 0;
    while (count > 0) {
      const unsigned here = static_cast<unsigned>(8 - position_ % 8);
      const unsigned taken = std::min(count, here);
      const unsigned byte = std::to_integer<unsigned>(bytes_[position_ / 8]);
      value = value << taken | (byte >> (here - taken) & ((1u << taken) - 1));
      position_ += taken;
      count -= taken;
    }
    return value;
  }
  std::uint64_t get_elias() {
    std::uint64_t k = 1;
    while (get(1) != 0) {
      if (k > 40)  // no length here has that many bits
        fail("a number of more than 40 bits");
      k = std::uint64_t{1} << k | get(static_cast<unsigned>(k));
    }
    return k;
  }
  // Skips to the next byte; the skipped bits must be zero.
  void align() {
    if (position_ % 8 != 0 && get(static_cast<unsigned>(8 - position_ % 8)) != 0)
      fail("bits set between two buckets");
  }
  [[noreturn]] static void fail(const std::string& what) {
    throw CorruptMessage("corrupt qsgd message: " + what);
  }
  bool at_end() const { return position_ >= 8 * bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;  // in bits
};

}  // namespace syncline

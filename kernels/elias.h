// The recursive (omega) code of Elias, as QSGD uses it (arXiv 1610.02132, appendix; algorithms.md
// 3.2): write a final 0; while k > 1, prepend the binary form of k, and go on with the number of
// bits just prepended less one. The printed encoder stops at k = 0; only stopping at 1, the
// standard code, is what the printed decoder reads.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/compressor.h"

namespace syncline {

class BitWriter {  // highest bit of each byte first
 public:
  explicit BitWriter(Message& bytes) : bytes_(bytes) {}
  void put(std::uint64_t value, unsigned count) {
    for (unsigned i = count; i-- > 0;) {
      if (used_ == 0)
        bytes_.push_back(std::byte{0});
      if ((value >> i & 1u) != 0)
        bytes_.back() |= static_cast<std::byte>(0x80u >> used_);
      used_ = (used_ + 1) % 8;
    }
  }
  void align() { used_ = 0; }  // what comes next starts a byte

 private:
  Message& bytes_;
  unsigned used_ = 0;
};

class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::uint64_t get(unsigned count) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < count; ++i, ++position_) {
      if (position_ / 8 >= bytes_.size())
        throw CorruptMessage("corrupt Elias code: the message ends inside a code");
      value = value << 1 |
              (std::to_integer<unsigned>(bytes_[position_ / 8]) >> (7 - position_ % 8) & 1u);
    }
    return value;
  }
  // Skips to the next byte; the bits skipped must be zero.
  void align() {
    if (position_ % 8 != 0 && get(static_cast<unsigned>(8 - position_ % 8)) != 0)
      throw CorruptMessage("corrupt Elias code: bits set between two buckets");
  }
  bool at_end() const { return position_ >= 8 * bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
};

constexpr unsigned elias_bits(std::uint64_t k) {
  unsigned bits = 1;
  while (k > 1) {
    const unsigned width = static_cast<unsigned>(std::bit_width(k));
    bits += width;
    k = width - 1;
  }
  return bits;
}

inline void put_elias(std::uint64_t k, BitWriter& out) {
  std::uint64_t parts[8];
  int count = 0;
  for (; k > 1; k = static_cast<std::uint64_t>(std::bit_width(k)) - 1)
    parts[count++] = k;
  while (count-- > 0)
    out.put(parts[count], static_cast<unsigned>(std::bit_width(parts[count])));
  out.put(0, 1);
}

inline std::uint64_t get_elias(BitReader& in) {
  std::uint64_t k = 1;
  while (in.get(1) != 0) {
    if (k > 40)  // no length of ours has so many bits
      throw CorruptMessage("corrupt Elias code: a number of more than 40 bits");
    k = std::uint64_t{1} << k | in.get(static_cast<unsigned>(k));
  }
  return k;
}

}  // namespace syncline

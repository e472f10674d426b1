// QSGD's buckets in Elias codes, as CPUs write and read them.
#pragma once

#include "kernels/arithmetic/elias.h"
#include "kernels/compressors/qsgd.h"

namespace syncline {

// The code of one element, `distance` after the last coded one. In the sparse regime its level is
// not zero.
inline Bits coded(const Qsgd& qsgd, std::size_t distance, std::uint32_t code) {
  const std::uint32_t level = code & (qsgd.sign_bit() - 1);
  const Bits sign{(code & qsgd.sign_bit()) != 0, 1};
  return qsgd.coding == Coding::dense
             ? sign + elias(level + 1)
             : elias(static_cast<std::uint32_t>(distance)) + sign + elias(level);
}

// Writes the codes of one bucket as bits: Code_s (sparse regime: positions of the non-zeros) or
// Code'_s (dense regime: every coordinate). A bucket starts at a byte. The end of Code_s, which the
// paper leaves open, is the distance to one past the bucket's end.
inline void put_bucket(const Qsgd& qsgd, float scale, const std::uint8_t* codes, std::size_t count,
                       BitWriter& out) {
  out.put({std::bit_cast<std::uint32_t>(scale), 32});
  std::size_t last = 0;  // positions count from one
  for (std::size_t i = 0; i < count; ++i)
    if (qsgd.coding == Coding::dense || (codes[i] & (qsgd.sign_bit() - 1)) != 0) {
      out.put(coded(qsgd, i + 1 - last, codes[i]));
      last = i + 1;
    }
  if (qsgd.coding == Coding::sparse)
    out.put(elias(static_cast<std::uint32_t>(count + 1 - last)));
  out.align();
}

// Reads the codes of one bucket; returns its scale.
inline float get_bucket(const Qsgd& qsgd, std::size_t count, BitReader& in, std::uint8_t* codes) {
  std::fill(codes, codes + count, std::uint8_t{0});
  const bool dense = qsgd.coding == Coding::dense;
  const float scale = std::bit_cast<float>(static_cast<std::uint32_t>(in.get(32)));
  if (scale < 0)
    in.fail("a scale below zero");
  for (std::size_t i = 0;; ++i) {
    const std::uint64_t distance = dense ? 1 : in.get_elias();
    if (distance > count + 1 - i)
      in.fail("a position beyond the end of its bucket");
    i += distance - 1;
    if (i == count)
      break;
    const bool negative = in.get(1) != 0;
    const std::uint64_t level = in.get_elias() - (dense ? 1 : 0);
    if (level > static_cast<std::uint64_t>(qsgd.levels))
      in.fail("a level above the highest");
    codes[i] = static_cast<std::uint8_t>(level | (negative ? qsgd.sign_bit() : 0u));
  }
  in.align();
  return scale;
}

}  // namespace syncline

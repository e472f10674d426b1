// QSGD's settings and its per-bucket arithmetic, shared by its versions (arXiv 1610.02132).
#pragma once

#include <cmath>

#include "kernels/arithmetic/elias.h"
#include "kernels/arithmetic/moments.h"
#include "kernels/arithmetic/quantise.h"

namespace syncline {

enum class Coding { fixed, sparse, dense };

struct Qsgd {
  unsigned bits = 4;  // per element, including its sign
  int levels = 7;     // the paper's s
  std::size_t bucket = 512;
  bool max_norm = true;
  Coding coding = Coding::fixed;

  constexpr unsigned sign_bit() const { return (1u << bits) >> 1; }
};

Qsgd qsgd_of(const Settings& settings);

// The scale of one bucket: its largest magnitude, or its 2-norm.
inline float scale_of(const Qsgd& qsgd, const Moments& moments) {
  const float scale = qsgd.max_norm ? std::bit_cast<float>(moments.top)
                                    : static_cast<float>(std::sqrt(moments.squares));
  return scale == scale ? scale : std::numeric_limits<float>::quiet_NaN();  // one NaN for all
}

// Writes the codes of one bucket as bits: Code_s (sparse regime: positions of the non-zeros) or
// Code'_s (dense regime: every coordinate). A bucket starts at a byte. The end of Code_s, which the
// paper leaves open, is the distance to one past the bucket's end.
void put_bucket(const Qsgd& qsgd, float scale, const std::uint8_t* codes, std::size_t count,
                BitWriter& out);

// The code of one element, `distance` after the last coded one. In the sparse regime its level is
// not zero.
constexpr Bits coded(const Qsgd& qsgd, std::size_t distance, std::uint32_t code) {
  const std::uint32_t level = code & (qsgd.sign_bit() - 1);
  const Bits sign{(code & qsgd.sign_bit()) != 0, 1};
  return qsgd.coding == Coding::dense
             ? sign + elias(level + 1)
             : elias(static_cast<std::uint32_t>(distance)) + sign + elias(level);
}

// Upper bound of the bytes of one bucket. (Sparse: the code of a gap is never longer than codes of
// the skipped elements.)
constexpr std::size_t most_coded_bytes(const Qsgd& qsgd, std::size_t count) {
  const unsigned levels = static_cast<unsigned>(qsgd.levels);
  const std::size_t bits = qsgd.coding == Coding::dense ? count * (1 + elias(levels + 1).count)
                                                        : count * (2 + elias(levels).count) + 1;
  return 4 + (bits + 7) / 8;
}

// Reads one bucket: calls take(i, code) for all codes (dense) or for the non-zeros, in order;
// returns the scale.
template <class Take>
constexpr float read_bucket(const Qsgd& qsgd, std::size_t count, BitReader& in, const Take& take) {
  const bool dense = qsgd.coding == Coding::dense;
  const float scale = std::bit_cast<float>(static_cast<std::uint32_t>(in.get(32)));
  if (scale < 0)
    in.fail("a scale below zero");
  for (std::size_t i = 0; in.wrong() == nullptr; ++i) {
    const std::uint64_t distance = dense ? 1 : get_elias(in);
    if (!dense && distance > count + 1 - i) {
      in.fail("a position beyond the end of its bucket");
      break;
    }
    i += distance - 1;
    if (i == count)
      break;
    const bool negative = in.get(1) != 0;
    const std::uint64_t level = get_elias(in) - (dense ? 1 : 0);
    if (level > static_cast<std::uint64_t>(qsgd.levels))
      in.fail("a level above the highest");
    else
      take(i, static_cast<std::uint32_t>(level) | (negative ? qsgd.sign_bit() : 0u));
  }
  in.align();
  return scale;
}

}  // namespace syncline

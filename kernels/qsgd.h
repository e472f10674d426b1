// QSGD's settings and its per-bucket arithmetic, shared by its versions (arXiv 1610.02132).
#pragma once

#include <cmath>
#include <string>

#include "kernels/elias.h"
#include "kernels/moments.h"
#include "kernels/quantise.h"

namespace syncline {

enum class Coding { fixed, sparse, dense };

struct Qsgd {
  unsigned bits = 4;  // per element, with its sign
  int levels = 7;     // the paper's s
  std::size_t bucket = 512;
  bool max_norm = true;
  Coding coding = Coding::fixed;

  unsigned sign_bit() const { return 1u << (bits - 1); }
};

Qsgd qsgd_of(const Settings& settings);

// The scale of one bucket: its largest magnitude, or its 2-norm.
inline float scale_of(const Qsgd& qsgd, const Moments& moments) {
  const float scale = qsgd.max_norm ? std::bit_cast<float>(moments.top)
                                    : static_cast<float>(std::sqrt(moments.squares));
  return scale == scale ? scale : std::numeric_limits<float>::quiet_NaN();  // one NaN
}

inline float scale_plainly(const Qsgd& qsgd, const float* v, std::size_t count) {
  return scale_of(qsgd, tile_moments_plainly(v, count));
}

inline float scale_of(const Qsgd& qsgd, const float* v, std::size_t count) {
  return scale_of(qsgd,
                  qsgd.max_norm ? Moments{.top = tile_top(v, count)} : tile_moments(v, count));
}

// The codes of one bucket as bits: Code_s (sparse regime: positions of what is not zero) or Code'_s
// (dense regime: every coordinate). A bucket starts at a byte, and ends Code_s with the distance to
// one past its end, which the paper leaves open.
void put_bucket(const Qsgd& qsgd, float scale, const std::uint8_t* codes, std::size_t count,
                BitWriter& out);
// Reads one bucket back; throws CorruptMessage.
float get_bucket(const Qsgd& qsgd, std::size_t count, BitReader& in, std::uint8_t* codes);

}  // namespace syncline

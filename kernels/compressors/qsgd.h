// QSGD's settings, shared by its versions (arXiv 1610.02132).
#pragma once

#include "kernels/arithmetic/quantise.h"
#include "kernels/compressor.h"

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
// Throws std::invalid_argument for codes that no GPU makes, and no modelled table prices.
void refuse_elias(const Settings& settings);

}  // namespace syncline

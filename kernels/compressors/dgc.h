// DGC's settings and its decisions, shared by its versions (dgc.cpp names the paper).
#pragma once

#include <algorithm>

#include "kernels/arithmetic/keys.h"
#include "kernels/arithmetic/moments.h"
#include "kernels/compressor.h"

namespace syncline {

struct Dgc {
  std::size_t k = 0;
  std::size_t samples = 0;
  std::size_t sample_k = 0;
  float momentum = 0;
  double clip = 0;   // the largest allowed 2-norm of a gradient; 0: no limit
  float factor = 1;  // scales the gradient down to that norm
};

// The paper's warm-up: sends a quarter, a sixteenth, ... in four stages of equally many steps, but
// never less than the density.
inline double warm_density(const Settings& settings, std::uint32_t step) {
  const double density = density_of(settings);
  const double steps = settings.number("warm-up");
  if (!(density > 0) || step >= steps)
    return density;
  double warm = 0.25;
  const int stages = static_cast<int>(4.0 * step / steps);
  for (int stage = 0; stage < stages; ++stage)
    warm *= 0.25;
  return std::max(density, warm);
}

// The momentum of a tensor, one value per element, stored beside the residual.
inline std::span<float> momentum_of(State& state, const Dgc& dgc, std::size_t elements) {
  return dgc.momentum > 0 ? memory_of<float>(state, elements) : std::span<float>();
}

inline Dgc dgc_of(const Settings& settings, std::size_t elements, std::uint32_t step) {
  Dgc dgc;
  const double density = warm_density(settings, step);
  dgc.k = wanted(density, elements);
  // At least 256: a sample of a few elements says nothing about a tail.
  dgc.samples =
      std::min(elements, std::max<std::size_t>(wanted(settings.number("sample"), elements), 256));
  dgc.sample_k = wanted(density, dgc.samples);
  dgc.momentum = static_cast<float>(settings.number("momentum"));
  dgc.clip = settings.number("clip-norm");
  return dgc;
}

// Squares of fp32 values are infinite from 2^64 on; then n times the largest square is an upper
// bound.
constexpr double squared_norm(const Moments& moments) {
  const double top = std::bit_cast<float>(moments.top);
  return moments.squares < std::numeric_limits<double>::infinity() ? moments.squares
                                                                   : moments.count * top * top;
}

// A non-finite norm clips nothing: NaN and infinity stay as they are, and are sent first.
constexpr float clipping_factor(double clip, double norm) {
  return norm > clip && norm < std::numeric_limits<double>::infinity()
             ? static_cast<float>(clip / norm)
             : 1.0f;
}

// Whether the hierarchical selection has to trim.
constexpr bool too_many(std::size_t count, std::size_t k) {
  return 3 * count > 4 * k;
}

}  // namespace syncline

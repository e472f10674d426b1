// DGC's settings and its one decision, shared by its versions (algorithms.md 6.3).
#pragma once

#include <algorithm>

#include "kernels/compressor.h"
#include "kernels/keys.h"

namespace syncline {

struct Dgc {
  std::size_t k = 0;
  std::size_t samples = 0;
  std::size_t sample_k = 0;
  float momentum = 0;
};

// The paper's warm-up: a quarter, a sixteenth, ... is sent, four times for as many steps each,
// until the density is reached.
inline double warm_density(const Settings& settings, std::uint32_t step) {
  const double density = settings.number("density");
  const double steps = settings.number("warm-up");
  if (!(density > 0) || step >= steps)
    return density;
  double warm = 0.25;
  for (double stage = 1; stage <= 4.0 * step / steps; ++stage)
    warm *= 0.25;
  return std::max(density, warm);
}

inline Dgc dgc_of(const Settings& settings, std::size_t elements, std::uint32_t step) {
  Dgc dgc;
  const double density = warm_density(settings, step);
  dgc.k = wanted(density, elements);
  // A sample of a few elements says nothing about a tail.
  dgc.samples =
      std::min(elements, std::max<std::size_t>(wanted(settings.number("sample"), elements), 256));
  dgc.sample_k = wanted(density, dgc.samples);
  dgc.momentum = static_cast<float>(settings.number("momentum"));
  return dgc;
}

// More than the hierarchical selection puts up with.
constexpr bool too_many(std::size_t count, std::size_t k) {
  return 3 * count > 4 * k;
}

}  // namespace syncline

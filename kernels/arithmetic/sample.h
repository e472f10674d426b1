// A sample of a tensor looks at these elements.
#pragma once

#include "kernels/philox.h"

namespace syncline {

// The elements a sample looks at: one at random out of each of m equal strata, so that a tensor
// made of layers of different scale is covered in proportion.
constexpr std::size_t sampled_element(const Draw& draw, std::size_t elements, std::size_t samples,
                                      std::size_t stratum) {
  const std::uint64_t begin = std::uint64_t{stratum} * elements / samples;
  const std::uint64_t end = (std::uint64_t{stratum} + 1) * elements / samples;
  return begin + random_words(draw, stratum)[3] % (end - begin);
}

}  // namespace syncline

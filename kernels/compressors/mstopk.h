// The bisection of MSTopK (mstopk.cpp names the paper), shared by its versions.
#pragma once

#include "kernels/arithmetic/moments.h"
#include "kernels/philox.h"

namespace syncline {

struct Band {
  std::uint32_t above = no_key;  // everything with key >= above is sent
  std::uint32_t from = 0;        // and some of the keys with from <= key < above
};

template <class NoMoreThanK>
constexpr Band bisect(const Moments& moments, int rounds, const NoMoreThanK& no_more_than_k) {
  Band band;
  const double mean = moments.absolute / moments.count;
  const double top = std::bit_cast<float>(moments.top);
  double low = 0, high = 1;
  for (int round = 0; round < rounds; ++round) {
    const double ratio = low + (high - low) / 2;
    const std::uint32_t key = key_from(static_cast<float>(mean + ratio * (top - mean)));
    (no_more_than_k(key) ? high : low) = ratio;
    (no_more_than_k(key) ? band.above : band.from) = key;
  }
  return band;
}

// Where in the band the consecutive elements begin. Uses the counter of all ones, which no element
// has.
constexpr std::size_t random_offset(const Draw& draw, std::size_t band, std::size_t room) {
  return random_words(draw, ~std::uint64_t{0})[1] % (band - room + 1);
}

}  // namespace syncline

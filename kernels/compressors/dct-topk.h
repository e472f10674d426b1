// The arithmetic and the message of top-k of cosine transforms, shared by its versions (DeMo, Peng,
// Quesnelle and Kingma, arXiv 2411.19870).
#pragma once

#include "kernels/arithmetic/chunks.h"
#include "kernels/arithmetic/values.h"

namespace syncline {

// Message: values in the gradient's precision, then the places.
struct CoefficientMessage : Chunks {
  std::size_t each = sizeof(float);  // bytes of a value

  constexpr std::size_t indices_begin() const { return sent() * each; }
  constexpr std::size_t bytes() const { return indices_begin() + packed_bytes(sent(), index_bits); }
  // The number of rows of a whole chunk, and of elements in a row.
  constexpr unsigned side() const { return 1u << index_bits / 2; }
  // A last chunk that is not whole is sent untransformed.
  constexpr bool is_transformed(std::size_t c) const { return elements_of(c) == chunk; }
};

inline CoefficientMessage coefficient_message(const Settings& settings, std::size_t elements,
                                              Precision precision) {
  return {chunks_of(settings, elements), value_bytes(precision)};
}

// With B the matrix of basis vectors, a chunk X of `side` rows becomes (B X) B', and is transformed
// back by B' (C B). Sums of these products begin at 0 and add their terms one by one, from first to
// last; zero terms may be left out.

inline constexpr unsigned largest_side = 64;

// sqrt(2 / side) cos(pi m / (2 side)) for m below 4 side: all factors of a transform.
struct Cosines {
  float at[4 * largest_side];
};
Cosines cosines_of(unsigned side);

// Element j of basis vector q of the orthonormal DCT-II. For q = 0 it is sqrt(1 / side), which the
// cosine of pi / 4 gives.
constexpr float basis_of(const float* cosines, unsigned side, unsigned q, unsigned j) {
  return cosines[q == 0 ? side / 2 : (2 * j + 1) * q % (4 * side)];
}

// Calls `work` with the side of whole chunks as a template argument.
template <class Work>
void with_side(const Chunks& chunks, const Work& work) {
  if (chunks.chunk == 256)
    work.template operator()<16>();
  else if (chunks.chunk == 1024)
    work.template operator()<32>();
  else
    work.template operator()<64>();
}

}  // namespace syncline

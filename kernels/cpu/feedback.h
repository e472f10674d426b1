// Error feedback on a CPU: u = g + e, strip by strip.
#pragma once

#include "kernels/arithmetic/feedback.h"
#include "kernels/arithmetic/moments.h"
#include "kernels/cpu/tiles.h"

namespace syncline {

// u = g + e, or u = g, in `residual`, for at most one strip.
void add_strip(const Gradient& gradient, bool feedback, std::size_t begin, std::size_t count,
               float* residual);

// Adds the whole tensor that way, in state.residual. Runs work(tile, begin, elements in it) for
// each tile while it is in the caches.
template <class Work>
void add_then(const Gradient& gradient, bool feedback, State& state, const Work& work) {
  fit(state.residual, gradient.elements());
  for_each_strip(gradient.elements(), [&](std::size_t begin, std::size_t count) {
    for_tiles_in(begin, count, [&](std::size_t t, std::size_t first, std::size_t elements) {
      add_strip(gradient, feedback, first, elements, state.residual.data());
      work(t, first, elements);
    });
  });
}

// Adds the whole tensor as well, and returns the moments of u.
Moments add_and_sum(const Gradient& gradient, bool feedback, State& state);

// u for the whole tensor, plainly: the first step of the reference versions.
void add_plainly(const Gradient& gradient, bool feedback, State& state);

}  // namespace syncline

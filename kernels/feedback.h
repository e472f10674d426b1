// Error feedback: what a compressor did not send is added to the next gradient (Seide et al. 2014;
// Karimireddy et al. 2019). Every encoder first turns the residual, in place, into g + e, chooses
// what to send from that, and takes what it sent off again. Without feedback the residual is
// overwritten by g, so that the rest of the encoder is the same.
#pragma once

#include <string>
#include <vector>

#include "kernels/compressor.h"
#include "kernels/tiles.h"

namespace syncline {

// The parameter of every method that can run both ways.
inline Parameter feedback_parameter(const std::string& fallback) {
  return {.name = "error-feedback",
          .sentence = "add what was not sent to the next gradient",
          .fallback = fallback,
          .choices = {"on", "off"}};
}

inline bool with_feedback(const Settings& settings) {
  return settings.word("error-feedback") == "on";
}

// Sizes a per-element memory at its first use, and refuses a tensor that changed its size.
void fit(Values& memory, std::size_t elements);

// u = g + e, or u = g, in `residual`, for at most a strip.
void add_strip(const Gradient& gradient, bool feedback, std::size_t begin, std::size_t count,
               float* residual);

// The same for the whole tensor, in state.residual. Runs work(tile, begin, elements in it) for
// every tile while the caches hold it.
template <class Work>
void add_then(const Gradient& gradient, bool feedback, State& state, const Work& work) {
  fit(state.residual, gradient.elements());
  for_each_strip(gradient.elements(), [&](std::size_t begin, std::size_t count) {
    add_strip(gradient, feedback, begin, count, state.residual.data());
    for (std::size_t at = 0; at < count; at += tile_elements)
      work((begin + at) / tile_elements, begin + at, std::min(tile_elements, count - at));
  });
}

// u for the whole tensor, plainly: what the reference versions start with.
void add_plainly(const Gradient& gradient, bool feedback, State& state);

}  // namespace syncline

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
void fit(std::vector<float>& memory, std::size_t elements);

// u = g + e, or u = g, in `residual`, for one tile.
inline void add_tile(const Gradient& gradient, bool feedback, std::size_t begin, std::size_t count,
                     float* residual) {
  float scratch[tile_elements];
  const float* g = gradient.tile(begin, count, scratch);
  float* u = residual + begin;
  if (feedback)
    for (std::size_t i = 0; i < count; ++i)
      u[i] = g[i] + u[i];
  else
    for (std::size_t i = 0; i < count; ++i)
      u[i] = g[i];
}

// The same for the whole tensor, plainly: what the reference versions start with.
void add_plainly(const Gradient& gradient, bool feedback, State& state);

}  // namespace syncline

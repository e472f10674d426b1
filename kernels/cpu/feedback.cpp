#include "kernels/cpu/feedback.h"

#include "kernels/arithmetic/lanes.h"
#include "kernels/arithmetic/low_rank.h"

namespace syncline {

void add_strip(const Gradient& gradient, bool feedback, std::size_t begin, std::size_t count,
               float* residual) {
  float scratch[strip_elements];
  const float* g = gradient.tile(begin, count, scratch);
  float* u = residual + begin;
  const std::size_t whole = count - count % lane_width;
  for (std::size_t i = 0; i < whole; i += lane_width)
    store(feedback ? load(g + i) + load(u + i) : load(g + i), u + i);
  for (std::size_t i = whole; i < count; ++i)
    u[i] = feedback ? g[i] + u[i] : g[i];
}

Moments add_and_sum(const Gradient& gradient, bool feedback, State& state) {
  std::vector<Moments> tiles(tiles_of(gradient.elements()));
  add_then(gradient, feedback, state, [&](std::size_t t, std::size_t begin, std::size_t count) {
    tiles[t] = tile_moments(state.residual.data() + begin, count);
  });
  return in_order(tiles);
}

void add_plainly(const Gradient& gradient, bool feedback, State& state) {
  fit(state.residual, gradient.elements());
  for (std::size_t i = 0; i < gradient.elements(); ++i)
    state.residual[i] = feedback ? gradient.at(i) + state.residual[i] : gradient.at(i);
}

Values residual(const State& state) {
  Values values = state.residual;
  if (state.sent.positive != 0 || state.sent.negative != 0)
    for (float& value : values)
      value -= state.sent.of(value);
  if (state.sent_rank > 0) {
    const Shape s = shape_of(values.size(), state.sent_rank);
    const float* const q = reinterpret_cast<const float*>(state.memory.data());
    const float* const p = q + s.columns * s.rank;
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = unsent(values[i],
                         low_rank(p + i / s.columns * s.rank, q + i % s.columns * s.rank, s.rank));
  }
  return values;
}

void settle(State& state) {
  if (state.sent.positive == 0 && state.sent.negative == 0 && state.sent_rank == 0)
    return;
  state.residual = residual(state);
  state.sent = {};
  forget_sent(state);
}

bool same_residual(const State& a, const State& b) {
  Values x = residual(a), y = residual(b);
  x.resize(x.empty() ? y.size() : x.size());
  y.resize(y.empty() ? x.size() : y.size());
  const auto bits = [](float value) {
    return value == value ? std::bit_cast<std::uint32_t>(value) : 0x7fc00000u;
  };
  return std::ranges::equal(x, y, {}, bits, bits);
}

}  // namespace syncline

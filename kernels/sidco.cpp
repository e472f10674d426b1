// SIDCo (Abdelmoniem, Elzanaty, Alouini, Canini, MLSys 2021; algorithms.md 6.5): fit a sparsity-
// inducing distribution to |u| and take its quantile as threshold. One fit is poor far out in the
// tail, so the next stages fit only what exceeded the threshold before: the first stage keeps a
// quarter, the others share the rest of the way. Every five encodings the number of stages moves by
// one when the achieved count is off by more than 20 %: up when too few were sent, down when too
// many.
//
// Exponential fit: t = -mean ln r. Generalised Pareto by moments: shape a = (1 - m^2/v) / 2, scale
// b = m (m^2/v + 1) / 2, t = b/a (r^-a - 1). The paper normalises by the 2-norm first; both rules
// are homogeneous, so that changes nothing. Its third fit, gamma, needs a logarithm of every
// element.
#include "kernels/moments.h"
#include "kernels/sparse.h"

namespace syncline {
namespace {

constexpr double first_ratio = 0.25;
constexpr int encodings_between = 5;

struct Exceedances {  // of the elements that reach a key
  double count = 0, absolute = 0, squares = 0;
  std::uint32_t least = no_key;
};

Exceedances joined(const Exceedances& a, const Exceedances& b) {
  return {a.count + b.count, a.absolute + b.absolute, a.squares + b.squares,
          std::min(a.least, b.least)};
}

struct ExceedanceLanes {
  float absolute[lanes] = {}, squares[lanes] = {};
  std::uint32_t count[lanes] = {}, least[lanes] = {};
};

Exceedances total_of(const ExceedanceLanes& partial) {
  Exceedances total;
  for (std::size_t lane = 0; lane < lanes; ++lane)
    total = joined(total, {static_cast<double>(partial.count[lane]), partial.absolute[lane],
                           partial.squares[lane], no_key - partial.least[lane]});
  return total;
}

// `least` is kept as no_key - key, so that zero means none.
void count_in(float u, std::uint32_t from, std::size_t lane, ExceedanceLanes& partial) {
  const std::uint32_t key = magnitude_key(u);
  const bool reached = key >= from;
  partial.count[lane] += reached ? 1u : 0u;
  partial.absolute[lane] += reached ? absolute_value(u) : 0.0f;
  partial.squares[lane] += reached ? u * u : 0.0f;
  partial.least[lane] = std::max(partial.least[lane], reached ? no_key - key : 0u);
}

Exceedances tile_plainly(const float* u, std::size_t count, std::uint32_t from) {
  ExceedanceLanes partial;
  for (std::size_t i = 0; i < count; ++i)
    count_in(u[i], from, i % lanes, partial);
  return total_of(partial);
}

Exceedances tile_exceedances(const float* u, std::size_t count, std::uint32_t from) {
  ExceedanceLanes partial;
  const std::size_t whole = count - count % lanes;
  for (std::size_t half = 0; half < lanes; half += lane_width) {
    Floats absolute = {}, squares = {};
    Words counts = {}, least = {};
    const Words none = {};
    const Floats zero = {};
    for (std::size_t i = half; i < whole; i += lanes) {
      const Floats values = load(u + i);
      const Words keys = keys_of(values);
      const Masks reached = keys >= from;
      absolute += reached ? floats_of(keys) : zero;
      squares += reached ? values * values : zero;
      counts -= reached ? none - 1u : none;
      const Words distance = reached ? no_key - keys : none;
      least = distance > least ? distance : least;
    }
    store(absolute, partial.absolute + half);
    store(squares, partial.squares + half);
    std::memcpy(partial.count + half, &counts, sizeof counts);
    std::memcpy(partial.least + half, &least, sizeof least);
  }
  for (std::size_t i = whole; i < count; ++i)
    count_in(u[i], from, i - whole, partial);
  return total_of(partial);
}

// The threshold that leaves `ratio` of the exceedances over `base`.
double fitted(const Exceedances& e, double base, double ratio, bool pareto) {
  const double mean = e.absolute / e.count - base;
  const double raw = e.absolute / e.count;
  const double variance = e.squares / e.count - raw * raw;
  const double shape = 0.5 * (1 - mean * mean / variance);
  if (!pareto || !(variance > 0) || std::fabs(shape) < 1e-6)
    return base - mean * std::log(ratio);
  const double scale = 0.5 * mean * (mean * mean / variance + 1);
  return base + scale / shape * (std::pow(ratio, -shape) - 1);
}

// All stages; `exceedances(key)` looks at the whole tensor. Zeros are never worth sending.
template <class Look>
std::uint32_t threshold_key(const Settings& settings, int stages, const Look& exceedances) {
  const double density = settings.number("density");
  const bool pareto = settings.word("fit") == "pareto";
  if (density >= first_ratio)
    stages = 1;
  std::uint32_t key = 0;
  for (int stage = 0; stage < stages; ++stage) {
    const Exceedances e = exceedances(key);
    if (!(e.count > 0))
      return no_key;
    const double base = stage == 0 ? 0.0 : std::bit_cast<float>(e.least);
    const double ratio = stages == 1  ? density
                         : stage == 0 ? first_ratio
                                      : std::pow(density / first_ratio, 1.0 / (stages - 1));
    key = std::max(key_from(static_cast<float>(fitted(e, base, ratio, pareto))), 1u);
  }
  return key;
}

void adapt(const Settings& settings, std::size_t sent, std::size_t k, State& state) {
  state.kept_share += static_cast<double>(sent) / static_cast<double>(k);
  if (++state.encodings < encodings_between)
    return;
  const double share = state.kept_share / encodings_between;
  const int most = std::max(
      1, static_cast<int>(std::ceil(std::log(settings.number("density")) / std::log(0.5))));
  state.stages = std::clamp(state.stages + (share < 0.8 ? 1 : share > 1.2 ? -1 : 0), 1, most);
  state.encodings = 0;
  state.kept_share = 0;
}

void start(const Settings& settings, State& state) {
  if (state.stages == 0)
    state.stages = static_cast<int>(settings.number("stages"));
}

void encode_plainly(const Settings& settings, const Gradient& gradient, const Draw&, State& state,
                    Message& message) {
  add_plainly(gradient, with_feedback(settings), state);
  start(settings, state);
  const std::vector<float>& u = state.residual;
  const std::size_t k = wanted(settings.number("density"), u.size());
  std::vector<std::uint32_t> chosen;
  if (k > 0) {
    const std::uint32_t key = threshold_key(settings, state.stages, [&](std::uint32_t from) {
      Exceedances total;
      for (std::size_t begin = 0; begin < u.size(); begin += tile_elements)
        total = joined(
            total, tile_plainly(u.data() + begin, std::min(tile_elements, u.size() - begin), from));
      return total;
    });
    for (std::size_t i = 0; i < u.size(); ++i)
      if (magnitude_key(u[i]) >= key)
        chosen.push_back(static_cast<std::uint32_t>(i));
    adapt(settings, chosen.size(), k, state);
  }
  write_sparse_plainly(chosen, gradient.precision(), state.residual, message);
}

void encode(const Settings& settings, const Gradient& gradient, const Draw&, State& state,
            Message& message) {
  const std::size_t n = gradient.elements(), k = wanted(settings.number("density"), n);
  const bool feedback = with_feedback(settings);
  fit(state.residual, n);
  start(settings, state);
  float* u = state.residual.data();
  Picks picks = room_for_picks(n, state.scratch);
  std::vector<Exceedances> tiles(tiles_of(n));
  const auto look = [&](std::uint32_t from) {
    for_each_tile(n, [&](std::size_t t, std::size_t begin, std::size_t count) {
      if (from == 0)  // the first stage adds the residual in passing
        add_tile(gradient, feedback, begin, count, u);
      tiles[t] = tile_exceedances(u + begin, count, from);
    });
    return std::accumulate(tiles.begin(), tiles.end(), Exceedances{}, joined);
  };
  if (k == 0)
    look(0);
  if (k > 0) {
    collect(u, n, threshold_key(settings, state.stages, look), picks);
    adapt(settings, picks.total(), k, state);
  }
  write_sparse(picks, gradient.precision(), state.residual, message);
}

const Registered<Compressor> entry{{
    .name = "sidco",
    .sentence = "about density x n elements, above a threshold fitted in stages",
    .parameters = {density_parameter(),
                   {.name = "fit",
                    .sentence = "distribution of the magnitudes",
                    .fallback = "exponential",
                    .choices = {"exponential", "pareto"}},
                   {.name = "stages",
                    .sentence = "how many fits in a row at the first step; it adapts from there",
                    .fallback = "3",
                    .minimum = 1,
                    .maximum = 20,
                    .whole = true},
                   feedback_parameter("on")},
    .sparse = true,
    .feedback = true,
    .wire_bytes = bytes_near_density,
    .reference = {encode_plainly, decode_sparse},
    .cpu = {encode, decode_sparse},
    .traffic = {.encode_bytes_per_element = 16.4,
                .encode_kernels = 4,
                .published_bytes_per_element = 80,
                .published_kernels = 10,
                .published_syncs = 4,
                .decode_bytes_per_element = 4.72},
}};

}  // namespace
}  // namespace syncline

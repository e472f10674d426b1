// Gaussian_k as its authors run it (Shi et al., arXiv 1911.08772; algorithms.md 1.1). The gradient
// is taken for a bell curve: t = mean + deviation * quantile(1 - density / 2), select |u| > t; when
// that is fewer than 2k/3, t halves; more than 4k/3, t grows by half; three masks at most, and the
// last one that was evaluated is sent, so a third change of t has no effect. How much is sent
// depends on the data: nothing at all for a tensor whose moments are not finite.
//
// The paper's text reads as the one-sided quantile(1 - density); the released code is two-sided,
// and so is the default here. Two passes: sums; then the counts above every
// threshold that can be reached, and what is above the first. Only a lower one needs a third.
#include "kernels/gaussiank.h"

#include <array>

#include "kernels/normal.h"
#include "kernels/sparse.h"

namespace syncline {
namespace {

double quantile(const Settings& settings) {
  const double density = settings.number("density");
  return normal_quantile(1 - (settings.word("sides") == "two" ? density / 2 : density));
}

void encode_plainly(const Settings& settings, const Gradient& gradient, const Draw&, State& state,
                    Message& message) {
  add_plainly(gradient, with_feedback(settings), state);
  const std::vector<float>& u = state.residual;
  const std::size_t k = wanted(settings.number("density"), u.size());
  double t = gaussian_threshold(moments_of(u), quantile(settings));
  std::vector<std::uint32_t> chosen;
  for (int pass = 0; pass < gaussian_passes && k > 0; ++pass) {
    chosen.clear();
    for (std::size_t i = 0; i < u.size(); ++i)
      if (std::fabs(u[i]) > static_cast<float>(t))
        chosen.push_back(static_cast<std::uint32_t>(i));
    const double factor = gaussian_factor(chosen.size(), k);
    if (factor == 1)
      break;
    t *= factor;
  }
  write_sparse_plainly(chosen, gradient.precision(), state.residual, message);
}

// How many of a tile reach each of these keys.
std::array<std::uint32_t, gaussian_masks> count_reaching(
    const float* u, std::size_t count, const std::uint32_t (&keys)[gaussian_masks]) {
  std::array<std::uint32_t, gaussian_masks> counts{};
  const std::size_t whole = count - count % lane_width;
  Masks reached[gaussian_masks] = {};
  for (std::size_t i = 0; i < whole; i += lane_width) {
    const Words here = keys_of(load(u + i));
    for (std::size_t f = 0; f < gaussian_masks; ++f)
      reached[f] -= here >= keys[f];
  }
  for (std::size_t f = 0; f < gaussian_masks; ++f) {
    for (std::size_t lane = 0; lane < lane_width; ++lane)
      counts[f] += static_cast<std::uint32_t>(reached[f][lane]);
    for (std::size_t i = whole; i < count; ++i)
      counts[f] += magnitude_key(u[i]) >= keys[f] ? 1u : 0u;
  }
  return counts;
}

// The counts of all reachable masks, and what reaches the first of them, in one pass.
std::array<std::size_t, gaussian_masks> count_and_collect(std::span<const float> u, double t,
                                                          Picks& picks) {
  std::uint32_t keys[gaussian_masks];
  for (std::size_t mask = 0; mask < gaussian_masks; ++mask)
    keys[mask] = key_above(t * mask_factor(mask));
  std::vector<std::array<std::uint32_t, gaussian_masks>> tiles(tiles_of(u.size()));
  for_each_tile(u.size(), [&](std::size_t tile, std::size_t begin, std::size_t count) {
    tiles[tile] = count_reaching(u.data() + begin, count, keys);
    picks.counts[tile] = collect_tile(u.data(), begin, count, keys[0], picks.words + begin);
  });
  std::array<std::size_t, gaussian_masks> counts{};
  for (const std::array<std::uint32_t, gaussian_masks>& tile : tiles)
    for (std::size_t mask = 0; mask < gaussian_masks; ++mask)
      counts[mask] += tile[mask];
  return counts;
}

void encode(const Settings& settings, const Gradient& gradient, const Draw&, State& state,
            Message& message) {
  const std::size_t n = gradient.elements(), k = wanted(settings.number("density"), n);
  const bool feedback = with_feedback(settings);
  fit(state.residual, n);
  float* u = state.residual.data();
  Picks picks = room_for_picks(n, state.scratch);
  std::vector<Moments> tiles(tiles_of(n));
  for_each_tile(n, [&](std::size_t t, std::size_t begin, std::size_t count) {
    add_tile(gradient, feedback, begin, count, u);
    tiles[t] = tile_moments(u + begin, count);
  });
  const double t = gaussian_threshold(in_order(tiles), quantile(settings));
  if (k > 0) {
    const double factor = last_mask(count_and_collect(state.residual, t, picks), k);
    if (factor > 1 && t > 0)
      raise(state.residual, key_above(t * factor), picks);
    else if (factor != 1)
      collect(u, n, key_above(t * factor), picks);
  }
  write_sparse(picks, gradient.precision(), state.residual, message);
}

const Registered<Compressor> entry{{
    .name = "gaussiank",
    .sentence =
        "about density x n elements, above a threshold fitted as if gradients were Gaussian",
    .parameters = {density_parameter(),
                   {.name = "sides",
                    .sentence = "threshold at the quantile of |u| (two) or of u (one)",
                    .fallback = "two",
                    .choices = {"two", "one"}},
                   feedback_parameter("on")},
    .sparse = true,
    .feedback = true,
    .wire_bytes = bytes_near_density<3>,
    .reference = {encode_plainly, decode_sparse},
    .cpu = {encode, decode_sparse},
    .traffic = {.encode_bytes_per_element = 16.4,
                .encode_kernels = 4,
                .published_bytes_per_element = 57,
                .published_kernels = 14,
                .published_syncs = 5,
                .decode_sum_bytes_per_selected = 64},
}};

}  // namespace
}  // namespace syncline

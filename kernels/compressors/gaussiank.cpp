// Gaussian_k as its authors run it (Shi, Chu, Cheung, See, arXiv 1911.08772, and their code,
// github.com/hclhkbu/GaussianK-SGD). It assumes a normal distribution: t = mean + deviation *
// quantile(1 - density / 2), select |u| > t; if that is fewer than 2k/3, t halves; if more than
// 4k/3, t grows by half; at most three masks, and the last one that was evaluated is sent, so a
// third change of t has no effect. The number sent depends on the data; a tensor whose moments are
// not finite sends nothing.
//
// The paper's text means the one-sided quantile(1 - density); the released code is two-sided, and
// this is the default here. Two passes: sums; then the elements above the threshold. A higher
// threshold only filters them, a lower one needs another pass.
#include "kernels/compressors/gaussiank.h"

#include "kernels/cpu/sparse.h"

namespace syncline {
namespace {

std::vector<std::uint32_t> choose(const Settings& settings, const Draw&, State& state) {
  const Values& u = state.residual;
  const std::size_t k = wanted(density_of(settings), u.size());
  double t = gaussian_threshold(moments_of(u), gaussian_quantile(settings));
  std::vector<std::uint32_t> chosen;
  for (int pass = 0; pass < gaussian_passes && k > 0; ++pass) {
    chosen = indices_where(u.size(),
                           [&](std::size_t i) { return std::fabs(u[i]) > static_cast<float>(t); });
    const double factor = gaussian_factor(chosen.size(), k);
    if (factor == 1)
      break;
    t *= factor;
  }
  return chosen;
}

Picks pick(const Settings& settings, const Gradient& gradient, const Draw&, State& state) {
  const std::size_t n = gradient.elements(), k = wanted(density_of(settings), n);
  Picks picks = room_for_picks(n, state.scratch);
  const Moments moments = add_and_sum(gradient, with_feedback(settings), state);
  double t = gaussian_threshold(moments, gaussian_quantile(settings));
  if (k > 0)
    collect(state.residual, key_above(t), picks);
  for (int pass = 1; pass < gaussian_passes && k > 0; ++pass) {
    const double factor = gaussian_factor(picks.total(), k);
    if (factor == 1)
      break;
    t *= factor;
    if (factor > 1)  // a subset, so no new pass
      raise(key_above(t), picks);
    else
      collect(state.residual, key_above(t), picks);
  }
  return picks;
}

// For a normal gradient: the elements selected by the mask that the published loop ends with.
Amount selected(const Settings& settings, std::size_t elements) {
  const std::size_t k = wanted(density_of(settings), elements);
  if (k == 0)
    return 0;
  const double threshold = gaussian_quantile(settings);
  std::size_t counts[gaussian_masks] = {};
  for (std::size_t mask = 0; mask < gaussian_masks; ++mask)
    counts[mask] = static_cast<std::size_t>(reaching(threshold * mask_factor(mask), elements).mean);
  const Amount count = reaching(threshold * last_mask(counts, k), elements);
  return {count.mean, std::max(count.mean / 3, 6 * std::sqrt(count.mean))};
}

// What gaussiank.cu enqueues.
StreamOperations encode_traffic(const Settings& settings, std::size_t elements) {
  SelectionTraffic moved(elements);
  moved.add_and_sum(with_feedback(settings));
  moved.enqueue("threshold_kernel", 2 * sector_bytes, 2 * sector_bytes);
  const bool counted = density_of(settings) > 0;  // no element reaches infinity
  const Amount counts = counted ? between(sector_bytes, 2 * sector_bytes) : Amount();
  moved.enqueue("count_kernel", sectors(4 * elements) + (counted ? 2 : 1) * sector_bytes, counts);
  moved.enqueue("decide_kernel", counts, sector_bytes);
  moved.collect(selected(settings, elements));
  moved.write_list();
  return moved.operations;
}

const Registered<Compressor> entry{sparsifier<choose, pick, selected>({
    .name = "gaussiank",
    .sentence =
        "about density x n elements, above a threshold fitted as if gradients were Gaussian",
    .help = {.more = "A few passes replace a sort, and the number sent differs from tensor to "
                     "tensor.",
             .paper = "Shi et al., arXiv 1911.08772"},
    .options = {density_option(),
                choice("sides", "threshold at the quantile of |u| (two) or of u (one)", "two",
                       {"two", "one"}),
                feedback_option("on")},
    .wire_bytes = bytes_near_density<3>,
    .promise = promise_at_density,
    .traffic = {.encode = encode_traffic, .floor = 16.4, .published = {57, 14, 5}},
    .warm_up_densities = {0.015625, 0.004},
})};

}  // namespace
}  // namespace syncline

// Deep Gradient Compression (Lin, Han, Mao, Wang, Dally, ICLR 2018). The threshold comes from a
// sample: the sample's own top fraction, as in the paper; the code of GaussianK-SGD instead takes
// rank k of a sample of 0.01 n elements. If more than 4k/3 elements pass the threshold, exactly the
// k largest of those are sent (hierarchical selection); fewer are sent as they are.
//
// Momentum correction (momentum > 0): u = m u + g is summed into the residual instead of g, and
// both are cleared where an element is sent (momentum factor masking). Without it this is plain
// error feedback, as in the operator measurements of later papers.
//
// Local clipping (clip-norm > 0): a gradient with a larger 2-norm is scaled down to that norm
// before it is added to anything. The paper's limit is the usual one divided by the root of the
// number of workers, which a compressor does not know.
#include "kernels/compressors/dgc.h"

#include "kernels/arithmetic/permutation.h"
#include "kernels/cpu/select.h"
#include "kernels/gpu/selection_traffic.h"

namespace syncline {
namespace {

// A tensor's residual and momentum; momentum is empty without momentum correction.
struct Sums {
  const Gradient& gradient;
  const Dgc& dgc;
  std::span<float> residual, momentum;

  // The momentum and the residual of element i after adding g, computed without storing them.
  float velocity_at(std::size_t i) const {
    const float g = dgc.factor * gradient.at(i);
    return momentum.empty() ? g : dgc.momentum * momentum[i] + g;
  }
  float at(std::size_t i) const { return velocity_at(i) + residual[i]; }
};

Sums sums_of(const Gradient& gradient, const Dgc& dgc, State& state) {
  fit(state.residual, gradient.elements());
  return {gradient, dgc, state.residual, momentum_of(state, dgc, gradient.elements())};
}

std::uint32_t sampled_key(const Sums& sums, const Draw& draw) {
  const Dgc& dgc = sums.dgc;
  std::vector<std::uint32_t> keys(dgc.samples);
  for_each_tile(dgc.samples, [&](std::size_t, std::size_t begin, std::size_t count) {
    for (std::size_t i = begin; i < begin + count; ++i)
      keys[i] = magnitude_key(sums.at(sampled_element(draw, sums.residual.size(), dgc.samples, i)));
  });
  return kth_largest(keys, dgc.sample_k).key;
}

void encode_plainly(const Settings& settings, const Gradient& gradient, const Draw& draw,
                    State& state, Message& message) {
  const std::size_t n = gradient.elements();
  Dgc dgc = dgc_of(settings, n, draw.step);
  const Sums sums = sums_of(gradient, dgc, state);
  if (dgc.clip > 0) {
    std::vector<float> values(n);
    for (std::size_t i = 0; i < n; ++i)
      values[i] = gradient.at(i);
    dgc.factor = clipping_factor(dgc.clip, std::sqrt(squared_norm(moments_of(values))));
  }
  std::vector<std::uint32_t> sample;
  for (std::size_t i = 0; i < dgc.samples; ++i) {
    const std::size_t element = sampled_element(draw, n, dgc.samples, i);
    sample.push_back(magnitude_key(sums.at(element)));
  }
  std::sort(sample.rbegin(), sample.rend());
  std::vector<std::uint32_t> chosen;
  for (std::size_t i = 0; i < n; ++i) {
    const float sum = sums.at(i);
    if (!sums.momentum.empty())
      sums.momentum[i] = sums.velocity_at(i);
    state.residual[i] = sum;
    if (dgc.k > 0 && magnitude_key(sum) >= sample[dgc.sample_k - 1])
      chosen.push_back(static_cast<std::uint32_t>(i));
  }
  if (too_many(chosen.size(), dgc.k))
    chosen = largest_plainly(state.residual, dgc.k);
  if (!sums.momentum.empty())
    for (const std::uint32_t i : chosen)
      sums.momentum[i] = 0;
  write_sparse_plainly(chosen, gradient.precision(), state.residual, message);
}

float factor_of(const Gradient& gradient, double clip) {
  const auto sums_of = [&](std::size_t begin, std::size_t count) {
    float scratch[tile_elements];
    return tile_moments(gradient.tile(begin, count, scratch), count);
  };
  return clipping_factor(clip,
                         std::sqrt(squared_norm(sum_in_parallel(gradient.elements(), sums_of))));
}

void add(const Sums& sums, std::size_t begin, std::size_t count) {
  const Dgc& dgc = sums.dgc;
  float scratch[tile_elements];
  const float* g = sums.gradient.tile(begin, count, scratch);
  float* u = sums.residual.data() + begin;
  if (!sums.momentum.empty()) {
    float* velocity = sums.momentum.data() + begin;
    for (std::size_t i = 0; i < count; ++i) {
      velocity[i] = dgc.momentum * velocity[i] + dgc.factor * g[i];
      u[i] = velocity[i] + u[i];
    }
  } else {
    for (std::size_t i = 0; i < count; ++i)
      u[i] = dgc.factor * g[i] + u[i];
  }
}

Picks pick(const Settings& settings, const Gradient& gradient, const Draw& draw, State& state) {
  const std::size_t n = gradient.elements();
  Dgc dgc = dgc_of(settings, n, draw.step);
  const Sums sums = sums_of(gradient, dgc, state);
  if (dgc.clip > 0)
    dgc.factor = factor_of(gradient, dgc.clip);
  const std::uint32_t threshold = dgc.k > 0 ? sampled_key(sums, draw) : no_key;
  Picks picks;
  if (!sums.momentum.empty() || dgc.factor != 1) {
    picks = room_for_picks(n, state.scratch);
    for_each_tile(n, [&](std::size_t t, std::size_t begin, std::size_t count) {
      add(sums, begin, count);
      collect_tile(state.residual.data(), t, begin, count, threshold, picks);
    });
  } else {
    picks = add_and_collect(gradient, true, threshold, state);
  }
  if (too_many(picks.total(), dgc.k))
    trim(dgc.k, picks);
  if (!sums.momentum.empty())
    for_each_tile_of(picks, [&](std::size_t t) {
      for (const std::uint32_t i : picks.tile(t))
        sums.momentum[i] = 0;
    });
  return picks;
}

// Smallest: what the threshold lets through in the sample itself. Largest: what is not trimmed.
// (After the warm-up.)
WireSize bytes(const Settings& settings, std::size_t elements, Precision precision) {
  const Dgc dgc = dgc_of(settings, elements, std::numeric_limits<std::uint32_t>::max());
  return {sparse_bytes(dgc.k, precision), sparse_bytes(dgc.sample_k, precision),
          sparse_bytes(std::min(dgc.k + dgc.k / 3, elements), precision)};
}

// How many elements reach the key of the sample's top fraction.
Amount above_sampled_key(const Dgc& dgc, std::size_t elements) {
  const double n = static_cast<double>(elements), samples = static_cast<double>(dgc.samples);
  if (dgc.k == 0 || dgc.samples == elements)
    return dgc.k;
  const double share = static_cast<double>(dgc.sample_k) / samples;
  return {n * share, 6 * n * std::sqrt(share / samples) + 3};
}

Amount sent(const Dgc& dgc, std::size_t elements) {
  const Amount listed = above_sampled_key(dgc, elements);
  const double k = static_cast<double>(dgc.k);
  return {std::min(listed.mean, k), std::max(std::min(listed.spread, k), k / 3)};
}

// What dgc.cu enqueues, after its warm-up.
StreamOperations encode_traffic(const Settings& settings, std::size_t elements) {
  const Dgc dgc = dgc_of(settings, elements, std::numeric_limits<std::uint32_t>::max());
  const bool has_momentum = dgc.momentum > 0, clips = dgc.clip > 0;
  const Amount tensor = sectors(4 * elements);
  SelectionTraffic moved(elements);
  if (clips) {
    moved.add_and_sum(false, false);
    moved.enqueue("factor_kernel", sector_bytes, sector_bytes);
  }
  const bool summed = clips || has_momentum;
  if (summed)
    moved.enqueue("sum_kernel", (has_momentum ? 3 : 2) * tensor + (clips ? sector_bytes : 0.0),
                  (has_momentum ? 2 : 1) * tensor);
  if (dgc.k == 0) {
    moved.set_low_key();
  } else {
    const Amount looks = sampled(dgc.samples, 1, elements);
    moved.enqueue("sample_kernel", (summed ? 1 : 2) * looks, sectors(4 * dgc.samples));
    moved.begin_counts();
    moved.cut_sample(dgc.samples);
  }
  const Amount listed = above_sampled_key(dgc, elements);
  if (summed)
    moved.collect(listed);
  else
    moved.add_and_collect(true, listed);
  moved.cut_list();
  moved.enqueue("judge_kernel", sector_bytes, 2 * sector_bytes);
  moved.write_band(sent(dgc, elements));
  moved.enqueue("report_kernel", sector_bytes, sector_bytes);
  if (has_momentum) {
    const Amount selected = sent(dgc, elements);
    moved.enqueue("mask_kernel", sectors(4 * selected) + sector_bytes,
                  scattered(selected, static_cast<double>(elements)));
  }
  return moved.operations;
}

StreamOperations decode_traffic(const Settings& settings, std::size_t elements,
                                std::size_t messages) {
  const Dgc dgc = dgc_of(settings, elements, std::numeric_limits<std::uint32_t>::max());
  return sparse_sum(sent(dgc, elements), elements, 8, messages);
}

const Registered<Compressor> entry{{
    .name = "dgc",
    .sentence = "about density x n elements, above a threshold taken from a sample",
    .help = {.more = "A small sample replaces the selection from all elements, and momentum "
                     "correction keeps accuracy at low densities.",
             .paper = "Lin et al., ICLR 2018"},
    .options = {density_option(),
                number("sample", "share of the elements in the sample for the threshold", "0.01",
                       1e-6, 1),
                number("momentum", "factor of the momentum correction; 0: plain error feedback",
                       "0", 0, 1),
                whole_number("warm-up", "steps in which the density falls from 1/4 by factors of 4",
                             "0", 0, 1e9),
                number("clip-norm", "2-norm to which larger gradients are scaled down; 0: no limit",
                       "0", 0)},
    .sparse = true,
    .feedback = always,
    .momentum = {
        .of = [](const Settings& settings) { return settings.number("momentum"); },
        .with = [](const Settings& settings,
                   double momentum) { return settings.with("momentum", momentum); },
        .unclipped = [](const Settings& settings) { return settings.with("clip-norm", 0); }},
    .wire_bytes = bytes,
    .promise = promise_at_density,
    .reference = {encode_plainly, one_by_one<decode_sparse>},
    .cpu = {encode_picked<pick>, decode_sparse_together},
    .traffic = {.encode = encode_traffic,
                .decode = decode_traffic,
                .floor = 12.8,
                .published = {98, 20, 4}},
    .warm_up_densities = {0.25, 0.0625, 0.015625, 0.004},
    .own_warm_up = "warm-up",
}};

}  // namespace
}  // namespace syncline

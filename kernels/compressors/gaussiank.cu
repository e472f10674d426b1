// Gaussian_k on a GPU: the passes of gaussiank.cpp, with the threshold and the decisions of the
// published loop made on the device. Only the normal quantile, which depends on settings alone,
// comes from the host.
#include "kernels/compressors/gaussiank.h"
#include "kernels/gpu/selection.cuh"

namespace syncline {
namespace {

__global__ void threshold_kernel(Selection* selection, double quantile) {
  const Moments& moments = selection->moments;
  selection->threshold = moments.sum / moments.count + sqrt(gaussian_variance(moments)) * quantile;
  for (std::size_t mask = 0; mask < gaussian_masks; ++mask)
    selection->counts[mask] = 0;
}

__global__ void __launch_bounds__(block_threads)
    count_kernel(const float* u, std::size_t elements, Selection* selection) {
  std::uint32_t keys[gaussian_masks];
  unsigned counts[gaussian_masks] = {};
  for (std::size_t mask = 0; mask < gaussian_masks; ++mask)
    keys[mask] = key_above(selection->threshold * mask_factor(mask));
  for_each_word(u, elements, [&](std::uint32_t word) {
    const std::uint32_t key = key_of_bits(word);
    for (std::size_t mask = 0; mask < gaussian_masks; ++mask)
      counts[mask] += key >= keys[mask] ? 1u : 0u;
  });
  for (std::size_t mask = 0; mask < gaussian_masks; ++mask)
    add_counts(&selection->counts[mask], counts[mask]);
}

__global__ void decide_kernel(Selection* selection, std::size_t k) {
  selection->low_key =
      k == 0 ? no_key : key_above(selection->threshold * last_mask(selection->counts, k));
}

void encode(const Settings& settings, const Draw&, const Selector& selector) {
  const DeviceInput& input = selector.input;
  Selection* const selection = selector.room.selection;
  selector.add_and_sum(with_feedback(settings));
  launch(threshold_kernel, 1, 1, selector.stream, selection, gaussian_quantile(settings));
  launch(count_kernel, persistent_blocks(), block_threads, selector.stream, input.residual,
         input.elements, selection);
  launch(decide_kernel, 1, 1, selector.stream, selection,
         wanted(density_of(settings), input.elements));
  selector.collect();
  selector.write_list();
}

const Registered<DeviceCompressor> entry{sparsifier_on_device("gaussiank", encode)};

}  // namespace
}  // namespace syncline

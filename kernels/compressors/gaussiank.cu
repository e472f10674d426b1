// Gaussian_k on a GPU: gaussiank.cpp's three passes, with the threshold and the decisions of the
// published loop made on the device. Only the normal quantile, which is a setting, comes from the
// host.
#include <cuda_runtime.h>

#include "kernels/arithmetic/feedback.h"
#include "kernels/arithmetic/normal.h"
#include "kernels/compressors/gaussiank.h"
#include "kernels/gpu/device.h"
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
  unsigned long long counts[gaussian_masks] = {};
  for (std::size_t mask = 0; mask < gaussian_masks; ++mask)
    keys[mask] = key_above(selection->threshold * mask_factor(mask));
  for (std::size_t i = grid_thread(); i < elements; i += grid_threads()) {
    const std::uint32_t key = magnitude_key(u[i]);
    for (std::size_t mask = 0; mask < gaussian_masks; ++mask)
      counts[mask] += key >= keys[mask] ? 1 : 0;
  }
  for (std::size_t mask = 0; mask < gaussian_masks; ++mask)
    add_counts(&selection->counts[mask], counts[mask]);
}

__global__ void decide_kernel(Selection* selection, std::size_t k) {
  selection->low_key =
      k == 0 ? no_key : key_above(selection->threshold * last_mask(selection->counts, k));
}

void encode(const Settings& settings, const DeviceInput& input, const Draw&,
            const DeviceOutput& output, void* workspace, void* stream) {
  const double density = density_of(settings);
  const double quantile =
      normal_quantile(1 - (settings.word("sides") == "two" ? density / 2 : density));
  const SelectionRoom room = selection_room(workspace, input.elements);
  add_and_sum(input, with_feedback(settings), room, stream);
  launch(threshold_kernel, 1, 1, stream, room.selection, quantile);
  launch(count_kernel, persistent_blocks(), block_threads, stream, input.residual, input.elements,
         room.selection);
  launch(decide_kernel, 1, 1, stream, room.selection, wanted(density, input.elements));
  collect(input, false, room, stream);
  write_list(input, room, output, sparse_room(settings, input.elements), stream);
}

const Registered<DeviceCompressor> entry{sparsifier_on_device("gaussiank", encode)};

}  // namespace
}  // namespace syncline

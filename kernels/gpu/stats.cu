// One pass of 12 bytes per element: error feedback, the moments in the order of moments.h and, if
// wanted, a histogram of the magnitudes.
#include "kernels/gpu/selection.cuh"
#include "kernels/gpu/tiles.cuh"

namespace syncline {
namespace {

// Sums of a tile, by the first four warps of a block.
__device__ void sum_tile(const StagedTile& staged, unsigned count, Moments& sums) {
  sum_by_warp(0, staged, count, sums.sum, [](float value) { return value; });
  sum_by_warp(1, staged, count, sums.absolute, absolute_value);
  sum_by_warp(2, staged, count, sums.squares, [](float value) { return value * value; });
  top_by_warp(3, staged, count, sums.top, magnitude_key);
  if (threadIdx.x == 0)
    sums.count = static_cast<double>(count);
}

// Histograms are private to a block and merged with integer atomics, so the order does not matter.
template <bool counting, class Value>
__global__ void __launch_bounds__(block_threads, 2)
    stats_kernel(const Value* g, float* u, std::size_t elements, bool feedback, Moments* tiles,
                 unsigned* histogram) {
  __shared__ StagedTile staged;
  __shared__ unsigned counts[counting ? bins : 1];
  for (unsigned i = threadIdx.x; counting && i < bins; i += blockDim.x)
    counts[i] = 0;
  const auto count_keys = [&](const TileFours& values, unsigned count) {
#pragma unroll
    for (unsigned v = 0; counting && v < tile_fours; ++v) {
      const float four[] = {values[v].x, values[v].y, values[v].z, values[v].w};
#pragma unroll
      for (unsigned k = 0; k < 4; ++k)
        if (four_in_tile(v) + k < count)
          atomicAdd(&counts[bin_of(magnitude_key(four[k]))], 1u);
    }
  };
  for_each_staged_tile(
      g, u, elements, feedback, staged, count_keys,
      [&](std::size_t tile, unsigned count) { sum_tile(staged, count, tiles[tile]); });
  for (unsigned bin = threadIdx.x; counting && bin < bins; bin += blockDim.x)
    if (counts[bin] != 0)
      atomicAdd(&histogram[bin], counts[bin]);
}

__global__ void __launch_bounds__(256)
    total_kernel(const Moments* tiles, std::size_t count, Selection* selection) {
  const Moments total = total_in_order(tiles, count);
  if (threadIdx.x == 0)
    selection->moments = total;
}

void add_up(const Selector& s) {
  const std::size_t tiles = tiles_of(s.input.elements);
  add_groups(s.room.tiles, tiles, s.stream);
  launch(total_kernel, 1, 256, s.stream, s.room.tiles, tiles, s.room.selection);
}

}  // namespace

void Selector::add_and_sum(bool feedback) const {
  with_gradient(input, [&]<class Value>(const Value* g) {
    launch(stats_kernel<false, Value>, persistent_blocks(), block_threads, stream, g,
           input.residual, input.elements, feedback, room.tiles, nullptr);
  });
  add_up(*this);
}

void Selector::add_sum_and_count(bool feedback) const {
  begin_counts();
  with_gradient(input, [&]<class Value>(const Value* g) {
    launch(stats_kernel<true, Value>, persistent_blocks(), block_threads, stream, g, input.residual,
           input.elements, feedback, room.tiles, room.histogram);
  });
  add_up(*this);
}

}  // namespace syncline

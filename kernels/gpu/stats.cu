// One pass of 12 bytes per element: error feedback, the moments in the order of moments.h, and a
// histogram of the magnitudes where that is wanted.
#include "kernels/gpu/selection.cuh"

namespace syncline {
namespace {

// Neighbours in a gradient often fall into one bin, where their atomics wait for one another: odd
// and even lanes count apart. (Of a warp's 32 Gaussian values 3.6 fall into the fullest bin on
// average; with two copies 2.7 do.)
constexpr unsigned copies = 2;

// One warp per tile, lane l takes elements l, l + 32, ....
template <bool counting, class Value>
__device__ Moments tile_sums(const Value* g, float* u, WarpTile tile, bool feedback,
                             unsigned* counts) {
  const unsigned lane = lane_of_warp();
  float sum = 0, absolute = 0, squares = 0;
  std::uint32_t top = 0;
  for (std::size_t first = tile.begin + lane; first < tile.end; first += 32 * batch) {
    float values[batch];
    const unsigned left = left_of(first, tile.end);
    load_sums(g, u, first, left, feedback, values);
#pragma unroll
    for (unsigned row = 0; row < batch; ++row) {
      if (row * 32 >= left)
        break;
      const float value = values[row];
      if (u != nullptr)
        u[first + row * 32] = value;
      const std::uint32_t key = magnitude_key(value);
      sum += value;
      absolute += absolute_value(value);
      squares += value * value;
      top = top > key ? top : key;
      if (counting)
        atomicAdd(&counts[bin_of(key) * copies + lane % copies], 1u);
    }
  }
  return ordered_sums(Moments{static_cast<double>(tile.end - tile.begin)}, [&](unsigned from) {
    return Moments{0, __shfl_sync(all_lanes, sum, from), __shfl_sync(all_lanes, absolute, from),
                   __shfl_sync(all_lanes, squares, from), __shfl_sync(all_lanes, top, from)};
  });
}

// Histograms are private to a block and merged with integer atomics: no order changes the result.
template <bool counting, class Value>
__global__ void __launch_bounds__(block_threads, 2)
    stats_kernel(const Value* g, float* u, std::size_t elements, bool feedback, Moments* tiles,
                 unsigned* histogram) {
  __shared__ unsigned counts[counting ? bins * copies : 1];
  for (unsigned i = threadIdx.x; counting && i < bins * copies; i += blockDim.x)
    counts[i] = 0;
  __syncthreads();
  const std::size_t all = tiles_of(elements);
  for (std::size_t tile = grid_warp(); tile < all; tile += grid_warps()) {
    const Moments total = tile_sums<counting>(g, u, warp_tile(tile, elements), feedback, counts);
    if (lane_of_warp() == 0)
      tiles[tile] = total;
  }
  __syncthreads();
  for (unsigned bin = threadIdx.x; counting && bin < bins; bin += blockDim.x) {
    unsigned count = 0;
    for (unsigned copy = 0; copy < copies; ++copy)
      count += counts[bin * copies + copy];
    if (count != 0)
      atomicAdd(&histogram[bin], count);
  }
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

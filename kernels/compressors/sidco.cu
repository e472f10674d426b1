// SIDCo on a GPU: each stage sums what reached the last threshold, and one thread fits. The sums of
// the first stage come from the pass that adds the residual. Only the device knows the number of
// stages, so the largest possible number is enqueued, and kernels of unused stages return at once.
#include "kernels/compressors/sidco.h"
#include "kernels/gpu/selection.cuh"
#include "kernels/gpu/tiles.cuh"

namespace syncline {
namespace {

struct Chain {  // the arguments of all its kernels
  Sidco sidco;
  SelectionRoom room;
  SidcoMemory* memory;
};

__device__ int stages_of(const Chain& chain) {
  return chain.sidco.single ? 1 : chain.memory->stages;
}

__device__ bool has_stage(const Chain& chain, int stage) {
  return stage < stages_of(chain) && chain.room.selection->low_key != no_key;
}

// Sums of a tile's values that reach the key `from`, by the first four warps of a block.
__device__ void sum_tile(const StagedTile& staged, unsigned count, std::uint32_t from,
                         Exceedances& sums) {
  const auto reached = [=](float value) { return magnitude_key(value) >= from; };
  sum_by_warp(0, staged, count, sums.count, [=](float value) { return reached(value) ? 1u : 0u; });
  sum_by_warp(1, staged, count, sums.absolute,
              [=](float value) { return reached(value) ? absolute_value(value) : 0.0f; });
  sum_by_warp(2, staged, count, sums.squares,
              [=](float value) { return reached(value) ? value * value : 0.0f; });
  top_by_warp(3, staged, count, sums.nearness,
              [=](float value) { return reached(value) ? no_key - magnitude_key(value) : 0u; });
}

__global__ void __launch_bounds__(block_threads, 2)
    exceedance_kernel(const float* u, std::size_t elements, Chain chain, int stage) {
  __shared__ StagedTile staged;
  if (!has_stage(chain, stage))
    return;
  const std::uint32_t from = chain.room.selection->low_key;
  Exceedances* const tiles = reinterpret_cast<Exceedances*>(chain.room.tiles);
  for_each_staged_tile(
      u, nullptr, elements, false, staged, [](const TileFours&, unsigned) {},
      [&](std::size_t tile, unsigned count) { sum_tile(staged, count, from, tiles[tile]); });
}

__global__ void __launch_bounds__(256) stage_kernel(std::size_t tiles, Chain chain, int stage) {
  if (!has_stage(chain, stage))  // low_key changes only after every thread has read it
    return;
  const Exceedances total =
      total_in_order(reinterpret_cast<const Exceedances*>(chain.room.tiles), tiles);
  if (threadIdx.x == 0)
    chain.room.selection->low_key = stage_key(chain.sidco, stage, stages_of(chain), total, 0);
}

__global__ void logarithm_kernel(const float* u, std::size_t elements, Chain chain) {
  const unsigned lane = lane_of_warp();
  const std::size_t tile = grid_warp();
  const auto [begin, end] = warp_tile(tile, elements);
  if (begin >= elements)
    return;
  const Moments& moments = chain.room.selection->moments;
  const double mean = moments.absolute / moments.count;
  double sum = 0;
  for (std::size_t i = begin + lane; i < end; i += 32)
    sum += fit_logarithm(u[i], mean);
  const double total = ordered_sum(sum);
  if (lane == 0)
    reinterpret_cast<double*>(chain.room.tiles)[tile] = total;
}

__global__ void __launch_bounds__(256) first_stage_kernel(std::size_t tiles, Chain chain) {
  const double logs = chain.sidco.fit == Fit::gamma
                          ? total_in_order(reinterpret_cast<const double*>(chain.room.tiles), tiles)
                          : 0.0;
  if (threadIdx.x != 0)
    return;
  const Moments& m = chain.room.selection->moments;
  chain.room.selection->low_key =
      stage_key(chain.sidco, 0, stages_of(chain), {m.count, m.absolute, m.squares, 0}, logs);
}

__global__ void adapt_kernel(Chain chain, std::size_t k) {
  *chain.memory = adapted(chain.sidco, *chain.memory, chain.room.selection->selected, k);
}

void set_threshold(const DeviceInput& input, const Chain& chain, void* stream) {
  const std::size_t tiles = tiles_of(input.elements);
  if (chain.sidco.fit == Fit::gamma) {
    launch(logarithm_kernel, blocks_of_warps(tiles), 128, stream, input.residual, input.elements,
           chain);
    add_groups(reinterpret_cast<double*>(chain.room.tiles), tiles, stream);
  }
  launch(first_stage_kernel, 1, 256, stream, tiles, chain);
  const int most = std::max(chain.sidco.first_stages, chain.sidco.most_stages);
  for (int stage = 1; stage < (chain.sidco.single ? 1 : most); ++stage) {
    launch(exceedance_kernel, persistent_blocks(), block_threads, stream, input.residual,
           input.elements, chain, stage);
    add_groups(reinterpret_cast<Exceedances*>(chain.room.tiles), tiles, stream);
    launch(stage_kernel, 1, 256, stream, tiles, chain, stage);
  }
}

void encode(const Settings& settings, const Draw&, const Selector& selector) {
  const DeviceInput& input = selector.input;
  const std::size_t k = wanted(density_of(settings), input.elements);
  const Chain chain{sidco_of(settings), selector.room,
                    reinterpret_cast<SidcoMemory*>(input.memory)};
  selector.add_and_sum(with_feedback(settings));
  if (k > 0)
    set_threshold(input, chain, selector.stream);
  else
    selector.set_low_key(no_key);
  selector.collect();
  selector.write_list();
  if (k > 0)
    launch(adapt_kernel, 1, 1, selector.stream, chain, k);
}

void prepare(const Settings& settings, std::size_t, const Draw&, State& state) {
  sidco_memory_of(state, sidco_of(settings));
}

const Registered<DeviceCompressor> entry{sparsifier_on_device("sidco", encode, prepare)};

}  // namespace
}  // namespace syncline

// How a block loads and stores a tile, and adds it in the order of order.h.
#pragma once

#include "kernels/gpu/device.cuh"

namespace syncline {

// A block's tile in registers: each lane has four neighbours at a time, and the next four 128
// elements further on in its warp's part, so that lanes and warps keep the order of the elements.
// All loads are issued together.
inline constexpr unsigned tile_fours = rows / 4;
using TileFours = float4[tile_fours];

// Where group v of this lane's four neighbours begins in a tile.
__device__ inline unsigned four_in_tile(unsigned v) {
  return threadIdx.x / 32 * 32 * rows + v * 128 + lane_of_warp() * 4;
}

// The number of elements in a tile.
__device__ inline unsigned elements_of_tile(std::size_t tile, std::size_t elements) {
  const std::size_t left = elements - tile * tile_elements;
  return left < tile_elements ? static_cast<unsigned>(left) : tile_elements;
}

// Loads a tile that begins at `from`; elements past its end are 0.
template <class Value>
__device__ void load_tile(const Value* from, unsigned count, TileFours& fours) {
  if (count == tile_elements) {
#pragma unroll
    for (unsigned v = 0; v < tile_fours; ++v)
      fours[v] = four_of(from, four_in_tile(v));
    return;
  }
#pragma unroll
  for (unsigned v = 0; v < tile_fours; ++v) {
    const unsigned at = four_in_tile(v);
    fours[v] = {at < count ? loaded(from, at) : 0.0f, at + 1 < count ? loaded(from, at + 1) : 0.0f,
                at + 2 < count ? loaded(from, at + 2) : 0.0f,
                at + 3 < count ? loaded(from, at + 3) : 0.0f};
  }
}

__device__ inline void store_tile(float* to, unsigned count, const TileFours& fours) {
#pragma unroll
  for (unsigned v = 0; v < tile_fours; ++v) {
    const unsigned at = four_in_tile(v);
    if (at + 4 <= count) {
      *reinterpret_cast<float4*>(to + at) = fours[v];
    } else {
      if (at < count)
        to[at] = fours[v].x;
      if (at + 1 < count)
        to[at + 1] = fours[v].y;
      if (at + 2 < count)
        to[at + 2] = fours[v].z;
    }
  }
}

// A tile in shared memory, where a warp adds it in the order of order.h. Each lane adds values one
// after the other; reading these from memory would take one trip for every few. (A warp per tile,
// alone with its loads, took 33 us at every size.) Several sums of a tile take one warp each.
struct alignas(16) StagedTile {
  float values[tile_elements];
};

// Stages the tiles of u = g + e, or of g, one after the other, and stores them in u unless it is
// null. Calls see(values, count) for the tile in registers and sum(tile, count) once it is staged,
// while the next one is loaded.
template <class Value, class See, class Sum>
__device__ void for_each_staged_tile(const Value* g, float* u, std::size_t elements, bool feedback,
                                     StagedTile& staged, const See& see, const Sum& sum) {
  const std::size_t all = tiles_of(elements);
  TileFours values = {}, rest = {};  // of the next tile
  const auto load = [&](std::size_t tile) {
    const unsigned count = elements_of_tile(tile, elements);
    load_tile(g + tile * tile_elements, count, values);
    if (feedback)
      load_tile(u + tile * tile_elements, count, rest);
  };
  if (blockIdx.x < all)
    load(blockIdx.x);
  __syncthreads();
  for (std::size_t tile = blockIdx.x; tile < all; tile += gridDim.x) {
    const unsigned count = elements_of_tile(tile, elements);
#pragma unroll
    for (unsigned v = 0; feedback && v < tile_fours; ++v)
      values[v] = {values[v].x + rest[v].x, values[v].y + rest[v].y, values[v].z + rest[v].z,
                   values[v].w + rest[v].w};
    if (u != nullptr)
      store_tile(u + tile * tile_elements, count, values);
    store_tile(staged.values, count, values);
    see(values, count);
    __syncthreads();
    if (tile + gridDim.x < all)
      load(tile + gridDim.x);
    sum(tile, count);
    __syncthreads();
  }
}

// Calls add(value) for this lane's values, in order. The next eight are loaded while eight are
// added.
template <class Add>
__device__ void for_each_of_lane(const StagedTile& staged, unsigned count, const Add& add) {
  const float* const mine = staged.values + lane_of_warp();
  if (count < tile_elements) {
    for (unsigned i = lane_of_warp(); i < count; i += 32)
      add(staged.values[i]);
    return;
  }
  float next[batch];
#pragma unroll
  for (unsigned row = 0; row < batch; ++row)
    next[row] = mine[row * 32];
#pragma unroll 1
  for (unsigned first = batch; first <= tile_elements / 32; first += batch) {
    float now[batch];
#pragma unroll
    for (unsigned row = 0; row < batch; ++row) {
      now[row] = next[row];
      next[row] = first < tile_elements / 32 ? mine[(first + row) * 32] : 0.0f;
    }
#pragma unroll
    for (unsigned row = 0; row < batch; ++row)
      add(now[row]);
  }
}

// The sum of part_of(value) over a tile, by one warp.
template <class PartOf>
__device__ double staged_sum(const StagedTile& staged, unsigned count, const PartOf& part_of) {
  decltype(part_of(0.0f)) mine = 0;
  for_each_of_lane(staged, count, [&](float value) { mine += part_of(value); });
  return ordered_sum(mine);
}

// The largest part_of(value) over a tile, by one warp.
template <class PartOf>
__device__ std::uint32_t staged_top(const StagedTile& staged, unsigned count,
                                    const PartOf& part_of) {
  std::uint32_t top = 0;
  for_each_of_lane(staged, count, [&](float value) {
    const std::uint32_t part = part_of(value);
    top = top > part ? top : part;
  });
  return warp_top(top);
}

// The warp of this number leaves the sum of part_of(value) over a tile in `to`.
template <class PartOf>
__device__ void sum_by_warp(unsigned number, const StagedTile& staged, unsigned count, double& to,
                            const PartOf& part_of) {
  if (threadIdx.x / 32 != number)
    return;
  const double sum = staged_sum(staged, count, part_of);
  if (lane_of_warp() == 0)
    to = sum;
}
template <class PartOf>
__device__ void top_by_warp(unsigned number, const StagedTile& staged, unsigned count,
                            std::uint32_t& to, const PartOf& part_of) {
  if (threadIdx.x / 32 != number)
    return;
  const std::uint32_t top = staged_top(staged, count, part_of);
  if (lane_of_warp() == 0)
    to = top;
}

}  // namespace syncline

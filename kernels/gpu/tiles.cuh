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

// A tile of u = g + e, or of g. Loading and adding are separate, so that a block can request its
// next tile while it works on this one.
template <class Value>
struct LoadedTile {
  TileFours g = {}, e = {};

  // Loads an existing tile; without feedback e stays 0.
  __device__ void load(const Value* gradient, const float* residual, std::size_t tile,
                       std::size_t elements, bool feedback) {
    const std::size_t begin = tile * tile_elements;
    const unsigned count = elements_of_tile(tile, elements);
    load_tile(gradient + begin, count, g);
    if (feedback)
      load_tile(residual + begin, count, e);
  }
  __device__ void add(bool feedback) {
#pragma unroll
    for (unsigned v = 0; feedback && v < tile_fours; ++v)
      g[v] = {g[v].x + e[v].x, g[v].y + e[v].y, g[v].z + e[v].z, g[v].w + e[v].w};
  }
};

// A tile in shared memory, where a warp adds it in the order of order.h. Each lane adds values one
// after the other; reading these from memory would take one trip for every few. (A warp per tile,
// alone with its loads, took 33 us at every size.) Several sums of a tile take one warp each.
struct alignas(16) StagedTile {
  float values[tile_elements];
};

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
  for (unsigned step = 16; step > 0; step /= 2) {
    const std::uint32_t other = __shfl_xor_sync(all_lanes, top, step);
    top = top > other ? top : other;
  }
  return top;
}

}  // namespace syncline

// The sign methods on a GPU: one pass of 12.13 bytes per element. A block takes a tile; four warps
// add in the order of signs.cpp, and one ballot gives 32 signs.
#include "kernels/arithmetic/signs.h"
#include "kernels/gpu/signs.h"
#include "kernels/gpu/tiles.cuh"

namespace syncline {
namespace {

// Sums of a tile, by the first four warps of a block.
__device__ void sum_tile(const StagedTile& staged, unsigned count, SignSums& sums) {
  sum_by_warp(0, staged, count, sums.positive,
              [](float value) { return value >= 0 ? value : 0.0f; });
  sum_by_warp(1, staged, count, sums.negative,
              [](float value) { return value >= 0 ? 0.0f : value; });
  sum_by_warp(2, staged, count, sums.positives, [](float value) { return value >= 0 ? 1u : 0u; });
  sum_by_warp(3, staged, count, sums.negatives, [](float value) { return value >= 0 ? 0u : 1u; });
}

template <class Value>
__global__ void __launch_bounds__(block_threads, 2)
    sign_kernel(const Value* g, float* u, std::size_t elements, bool feedback, const float* sent,
                std::uint32_t* words, SignSums* tiles) {
  __shared__ StagedTile staged;
  const unsigned lane = lane_of_warp();
  const float if_positive = sent[0], if_negative = sent[1];
  const bool with_rest = feedback && sent[2] == 0;
  const std::size_t all = tiles_of(elements);
  // What a lane loads of a block's tile: one row of its warp at a time, so that one ballot gives 32
  // signs.
  float ahead[rows], rest[rows] = {};
  const auto load = [&](std::size_t tile) {
    load_rows<32>(g, first_in_tile(tile), elements, ahead);
    if (with_rest)
      load_rows<32>(u, first_in_tile(tile), elements, rest);
  };
  if (blockIdx.x < all)
    load(blockIdx.x);
  for (std::size_t tile = blockIdx.x; tile < all; tile += gridDim.x) {
    const std::size_t first = first_in_tile(tile);
    std::uint32_t mine = 0;  // lane l keeps row l's word; one store writes all
#pragma unroll
    for (unsigned row = 0; row < rows; ++row) {
      const std::size_t i = first + row * 32;
      const float c = rest[row];
      const float value =
          feedback ? ahead[row] + (c - (c >= 0 ? if_positive : if_negative)) : ahead[row];
      if (i < elements)
        u[i] = value;
      staged.values[i % tile_elements] = value;
      const std::uint32_t word = __ballot_sync(all_lanes, i < elements && value >= 0);
      mine = lane == row ? word : mine;
    }
    const std::size_t begin = first - lane + lane * 32;  // the first element of this lane's word
    if (lane < rows && begin < elements)
      words[begin / 32] = mine;
    __syncthreads();
    if (tile + gridDim.x < all)
      load(tile + gridDim.x);
    sum_tile(staged, elements_of_tile(tile, elements), tiles[tile]);
    __syncthreads();
  }
}

__global__ void __launch_bounds__(256)
    scale_kernel(const SignSums* tiles, std::size_t count, bool two, bool feedback, float* message,
                 float* sent) {
  const SignSums total = total_in_order(tiles, count);
  if (threadIdx.x != 0)
    return;
  const SignScales scales = two ? two_scales(total) : one_scale(total);
  message[0] = canonical(scales.positive);
  if (two)
    message[1] = canonical(scales.negative);
  const bool finite = isfinite(scales.positive) && isfinite(scales.negative);
  sent[0] = finite && feedback ? scales.positive : 0.0f;
  sent[1] = finite && feedback ? scales.negative : 0.0f;
  sent[2] = !finite && feedback ? 1.0f : 0.0f;
}

// The signs of a message. With one scale, the value is that scale with its sign bit set or not.
template <std::size_t scales>
struct Signs {
  const std::uint32_t* words;
  float if_set, if_not;

  __device__ explicit Signs(const std::byte* message)
      : words(reinterpret_cast<const std::uint32_t*>(message) + scales),
        if_set(reinterpret_cast<const float*>(message)[0]),
        if_not(scales == 2 ? reinterpret_cast<const float*>(message)[1] : 0) {}

  __device__ auto operator()(std::size_t first, bool) const {
    return [this, bits = words[first / 32] >> first % 32](unsigned k) {
      if constexpr (scales == 2)
        return (bits >> k & 1u) != 0 ? if_set : if_not;
      else
        return __uint_as_float(__float_as_uint(if_set) ^ (~bits << (31 - k) & 0x80000000u));
    };
  }
};

template <std::size_t scales>
void encode(const Settings& settings, const DeviceInput& input, const Draw&,
            const DeviceOutput& output, void* workspace, void* stream) {
  const std::size_t tiles = tiles_of(input.elements);
  const bool feedback = with_feedback(settings);
  float* message = reinterpret_cast<float*>(output.message);
  SignSums* sums = static_cast<SignSums*>(workspace);
  if (tiles > 0)
    with_gradient(input, [&]<class Value>(const Value* g) {
      launch(sign_kernel<Value>, persistent_blocks(), block_threads, stream, g, input.residual,
             input.elements, feedback, input.sent,
             reinterpret_cast<std::uint32_t*>(message + scales), sums);
    });
  add_groups(sums, tiles, stream);
  launch(scale_kernel, 1, 256, stream, sums, tiles, scales == 2, feedback, message, input.sent);
}

template <std::size_t scales>
void decode_add(const Settings&, const DeviceMessages& messages, const Draw&, float* sum,
                std::size_t elements, void*, void* stream) {
  add_dense<Signs<scales>>(messages, sum, elements, stream);
}

std::size_t workspace_bytes(const Settings&, std::size_t elements) {
  return (tiles_of(elements) + 1) * sizeof(SignSums);
}

}  // namespace

DeviceCompressor sign_method_on_device(const std::string& name, std::size_t scales) {
  return {.name = name,
          .halves = true,
          .workspace_bytes = workspace_bytes,
          .encode = scales == 2 ? encode<2> : encode<1>,
          .decode_add = scales == 2 ? decode_add<2> : decode_add<1>};
}

}  // namespace syncline

// The sign methods on a GPU: one pass of 12.13 bytes per element. A warp takes a tile; its lanes
// add in the order of signs.cpp, and a ballot is 32 signs.
#include "kernels/arithmetic/signs.h"
#include "kernels/gpu/device.cuh"
#include "kernels/gpu/signs.h"

namespace syncline {
namespace {

template <class Value>
__global__ void sign_kernel(const Value* g, float* u, std::size_t elements, bool feedback,
                            const float* sent, std::uint32_t* words, SignSums* tiles) {
  const unsigned lane = lane_of_warp();
  const std::size_t tile = grid_warp();
  const auto [begin, end] = warp_tile(tile, elements);
  if (begin >= elements)
    return;
  const float if_positive = sent[0], if_negative = sent[1];
  const bool forget = sent[2] != 0;
  float positive = 0, negative = 0;
  unsigned positives = 0;
  for (std::size_t rows_begin = begin; rows_begin < end; rows_begin += 32 * batch) {
    const std::size_t first = rows_begin + lane;
    const unsigned left = left_of(first, end);
    float values[batch], rest[batch];
    load_sums(g, u, first, left, false, values);
#pragma unroll
    for (unsigned row = 0; row < batch; ++row)
      rest[row] = feedback && !forget && row * 32 < left ? u[first + row * 32] : 0.0f;
    unsigned mine = 0;  // lane l keeps row l's word, so that one store takes all
#pragma unroll
    for (unsigned row = 0; row < batch; ++row) {
      const bool inside = row * 32 < left;
      const float c = rest[row];
      const float value =
          feedback ? values[row] + (c - (c >= 0 ? if_positive : if_negative)) : values[row];
      if (inside)
        u[first + row * 32] = value;
      const bool set = inside && value >= 0;
      const unsigned word = __ballot_sync(all_lanes, set);
      mine = lane == row ? word : mine;
      positive += set ? value : 0.0f;
      negative += set || !inside ? 0.0f : value;
      positives += set ? 1u : 0u;
    }
    if (lane < batch && rows_begin + lane * 32 < end)
      words[rows_begin / 32 + lane] = mine;
  }
  SignSums sums = ordered_sums(SignSums{}, [&](unsigned from) {
    return SignSums{__shfl_sync(all_lanes, positive, from), __shfl_sync(all_lanes, negative, from),
                    static_cast<double>(__shfl_sync(all_lanes, positives, from)), 0};
  });
  sums.negatives = static_cast<double>(end - begin) - sums.positives;
  if (lane == 0)
    tiles[tile] = sums;
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

__global__ void unsign_kernel(const std::uint32_t* words, const float* message, bool two,
                              float* sum, std::size_t elements) {
  const std::size_t first = 4 * grid_thread();
  if (first >= elements)
    return;
  const FourOfSum four(sum, first, elements);
  const float if_set = message[0], if_not = two ? message[1] : -message[0];
  const std::uint32_t bits = words[first / 32] >> first % 32;
  four.add([&](unsigned k) { return (bits >> k & 1u) != 0 ? if_set : if_not; });
}

template <std::size_t scales>
void encode(const Settings& settings, const DeviceInput& input, const Draw&,
            const DeviceOutput& output, void* workspace, void* stream) {
  const std::size_t tiles = tiles_of(input.elements);
  const bool feedback = with_feedback(settings);
  float* message = reinterpret_cast<float*>(output.message);
  SignSums* sums = static_cast<SignSums*>(workspace);
  if (tiles > 0)
    with_gradient(input, [&]<class Value>(const Value* g) {
      launch(sign_kernel<Value>, blocks_of_warps(tiles), 128, stream, g, input.residual,
             input.elements, feedback, input.sent,
             reinterpret_cast<std::uint32_t*>(message + scales), sums);
    });
  add_groups(sums, tiles, stream);
  launch(scale_kernel, 1, 256, stream, sums, tiles, scales == 2, feedback, message, input.sent);
}

template <std::size_t scales>
void decode_add(const Settings&, const std::byte* message, std::size_t, const Draw&, float* sum,
                std::size_t elements, void*, void* stream) {
  const float* floats = reinterpret_cast<const float*>(message);
  launch_each(fours_of(elements), unsign_kernel, stream,
              reinterpret_cast<const std::uint32_t*>(floats + scales), floats, scales == 2, sum,
              elements);
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

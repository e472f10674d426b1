// TernGrad on a GPU: moments, then quantise and pack. A warp takes a block of 256 elements, whose
// eight rows share one Philox call per lane; two ballots give the codes of a row, and one store
// writes those of the block.
#include <cmath>

#include "kernels/arithmetic/packing.h"
#include "kernels/compressors/terngrad.h"
#include "kernels/gpu/selection.cuh"

namespace syncline {
namespace {

__global__ void scale_kernel(const Selection* selection, double clip, float* scale) {
  *scale = canonical(
      ternary_scale(selection->moments, clip, sqrt(ternary_variance(selection->moments))));
}

// Moves bit j of the low half to bit 2 j.
__device__ std::uint32_t spread(std::uint32_t bits) {
  bits = (bits | bits << 8) & 0x00ff00ffu;
  bits = (bits | bits << 4) & 0x0f0f0f0fu;
  bits = (bits | bits << 2) & 0x33333333u;
  return (bits | bits << 1) & 0x55555555u;
}

// Without feedback u is g and stays as it is.
template <class Value>
__global__ void ternary_kernel(const Value* u, float* residual, std::size_t elements, Draw draw,
                               std::byte* message) {
  const unsigned lane = lane_of_warp();
  const std::size_t block = grid_warp();
  const std::size_t begin = block * random_block;
  if (begin >= elements)
    return;
  const float scale = *reinterpret_cast<const float*>(message);
  const float inverse = inverse_unit(scale, 1);
  float values[batch];
  load_sums(u, residual, begin + lane, left_of(begin + lane, elements), false, values);
  const PhiloxWords words = random_words(draw, block * 32 + lane);
  std::uint32_t low = 0, high = 0;  // lanes 2 row and 2 row + 1 keep the ballots of that row
#pragma unroll
  for (unsigned row = 0; row < batch; ++row) {
    const std::size_t i = begin + row * 32 + lane;
    std::uint32_t code = 0;
    if (i < elements) {
      const float value = values[row];
      code = ternary_code(value, inverse, words[row / 2] >> (row % 2 * 16) & 0xffffu);
      const float sent = from_ternary(code, scale);
      if (residual != nullptr)
        residual[i] = isfinite(sent) ? value - sent : 0.0f;
    }
    const std::uint32_t lows = __ballot_sync(all_lanes, (code & 1u) != 0);
    const std::uint32_t highs = __ballot_sync(all_lanes, (code & 2u) != 0);
    low = lane / 2 == row ? lows : low;
    high = lane / 2 == row ? highs : high;
  }
  const unsigned half = lane % 2 * 16;  // the half of the ballots that this lane encodes
  const std::uint32_t word = spread(low >> half & 0xffffu) | spread(high >> half & 0xffffu) << 1;
  const std::size_t at = begin / 4 + 4 * lane, end = packed_bytes(elements, 2);
  if (lane >= 2 * batch)
    return;
  if (at + 4 <= end)
    *reinterpret_cast<std::uint32_t*>(message + 4 + at) = word;
  else
    for (unsigned byte = 0; at + byte < end; ++byte)
      message[4 + at + byte] = static_cast<std::byte>(word >> 8 * byte);
}

struct TernaryCodes {
  const std::byte* codes;
  float scale;

  __device__ explicit TernaryCodes(const std::byte* message)
      : codes(message + 4), scale(*reinterpret_cast<const float*>(message)) {}

  __device__ auto operator()(std::size_t first, bool) const {
    return [this, byte = static_cast<unsigned>(codes[first / 4])](unsigned k) {
      return from_ternary(byte >> 2 * k & 3u, scale);
    };
  }
};

void encode(const Settings& settings, const DeviceInput& input, const Draw& draw,
            const DeviceOutput& output, void* workspace, void* stream) {
  const bool feedback = with_feedback(settings);
  DeviceInput summed = input;
  summed.residual = feedback ? input.residual : nullptr;
  const Selector selector = selector_in(workspace, summed, output, stream);
  selector.add_and_sum(feedback);
  launch(scale_kernel, 1, 1, stream, selector.room.selection, settings.number("clip"),
         reinterpret_cast<float*>(output.message));
  const auto quantise = [&]<class Value>(const Value* u) {
    const std::size_t blocks = (input.elements + random_block - 1) / random_block;
    launch_each(32 * blocks, ternary_kernel<Value>, stream, u, summed.residual, input.elements,
                draw, output.message);
  };
  if (feedback)
    quantise(input.residual);
  else
    with_gradient(input, quantise);
}

void decode_add(const Settings&, const DeviceMessages& messages, const Draw&, float* sum,
                std::size_t elements, void*, void* stream) {
  add_dense<TernaryCodes>(messages, sum, elements, stream);
}

std::size_t workspace_bytes(const Settings&, std::size_t elements) {
  return selection_bytes(elements);
}

const Registered<DeviceCompressor> entry{{.name = "terngrad",
                                          .halves = true,
                                          .workspace_bytes = workspace_bytes,
                                          .encode = encode,
                                          .decode_add = decode_add}};

}  // namespace
}  // namespace syncline

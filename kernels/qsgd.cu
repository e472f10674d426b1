// QSGD with codes of fixed width on a GPU: one pass, a warp per bucket (kernels.md 4.5). Lane l
// takes elements l, l + 32, ...; eight rows share one Philox call per lane. Elias codes stay on the
// CPU.
#include <cuda_runtime.h>

#include "kernels/device.cuh"
#include "kernels/device.h"
#include "kernels/feedback.h"
#include "kernels/packing.h"
#include "kernels/qsgd.h"

namespace syncline {
namespace {

struct Shape {
  unsigned bits;
  int levels;
  std::size_t bucket, elements, buckets;
  bool max_norm, feedback;
};

__device__ float bucket_scale(const Shape& shape, float squares, std::uint32_t top) {
  double total = 0;
  for (unsigned from = 0; from < 32; ++from) {
    total += __shfl_sync(all_lanes, squares, from);
    const std::uint32_t other = __shfl_sync(all_lanes, top, from);
    top = top > other ? top : other;
  }
  const float scale = shape.max_norm ? __uint_as_float(top) : static_cast<float>(sqrt(total));
  return scale == scale ? scale : __int_as_float(0x7fc00000);
}

// Byte j of a row of 32 codes holds parts of one to eight of them; lanes below 4 * bits make one
// each.
__device__ unsigned packed_byte(unsigned lane, unsigned code, unsigned bits) {
  unsigned byte = 0;
  for (unsigned step = 0; step < 9; ++step) {
    const unsigned from = lane * 8 / bits + step;
    const unsigned other = __shfl_sync(all_lanes, code, from % 32);
    const int shift = static_cast<int>(from * bits) - static_cast<int>(lane * 8);
    if (from < 32 && shift < 8)
      byte |= shift >= 0 ? other << shift : other >> -shift;
  }
  return byte & 0xffu;
}

template <class Value>
__global__ void quantise_kernel(const Value* g, float* residual, Shape shape, Draw draw,
                                float* scales, unsigned char* codes) {
  const unsigned lane = threadIdx.x % 32;
  const std::size_t bucket = blockIdx.x * std::size_t{blockDim.x / 32} + threadIdx.x / 32;
  if (bucket >= shape.buckets)
    return;
  const std::size_t begin = bucket * shape.bucket;
  const std::size_t end =
      begin + shape.bucket < shape.elements ? begin + shape.bucket : shape.elements;
  const auto value_at = [&](std::size_t i) {
    return shape.feedback ? loaded(g, i) + residual[i] : loaded(g, i);
  };
  float squares = 0;
  std::uint32_t top = 0;
  for (std::size_t i = begin + lane; i < end; i += 32) {
    const float value = value_at(i);
    squares += value * value;
    const std::uint32_t key = magnitude_key(value);
    top = top > key ? top : key;
  }
  const float scale = bucket_scale(shape, squares, top);
  const float inverse = inverse_unit(scale, shape.levels);
  const float step = scale / static_cast<float>(shape.levels);
  if (lane == 0)
    scales[bucket] = scale;
  const unsigned sign_bit = 1u << (shape.bits - 1);
  PhiloxWords words{};
  for (std::size_t row = begin; row < end; row += 32) {
    const std::size_t i = row + lane;
    if (row == begin || row % random_block == 0)  // eight rows share a call
      words = random_words(draw, i / random_block * 32 + i % 32);
    const unsigned slot = static_cast<unsigned>(i / 32 % 8);
    unsigned code = 0;
    if (i < end) {
      const float value = value_at(i);
      const std::uint32_t random = words[slot / 2] >> (slot % 2 * 16) & 0xffffu;
      const std::uint32_t level = level_of(value, inverse, shape.levels, random);
      code = level | (value < 0 ? sign_bit : 0u);
      const float sent = from_level(level, value < 0, step);
      if (shape.feedback)
        residual[i] = isfinite(sent) ? value - sent : 0.0f;
    }
    const unsigned byte = packed_byte(lane, code, shape.bits);
    const std::size_t left = end - row < 32 ? end - row : 32;
    if (lane < packed_bytes(left, shape.bits))
      codes[row / 8 * shape.bits + lane] = static_cast<unsigned char>(byte);
  }
}

__global__ void dequantise_kernel(const std::byte* message, Shape shape, float* sum) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i >= shape.elements)
    return;
  const float scale = reinterpret_cast<const float*>(message)[i / shape.bucket];
  const unsigned char* codes = reinterpret_cast<const unsigned char*>(message + 4 * shape.buckets);
  const std::size_t bit = i * shape.bits;
  const std::size_t last = packed_bytes(shape.elements, shape.bits) - 1;
  unsigned word = codes[bit / 8];
  if (bit / 8 < last)
    word |= static_cast<unsigned>(codes[bit / 8 + 1]) << 8;
  const unsigned code = word >> bit % 8 & ((1u << shape.bits) - 1);
  const unsigned sign_bit = 1u << (shape.bits - 1);
  sum[i] += from_level(code & (sign_bit - 1), (code & sign_bit) != 0,
                       scale / static_cast<float>(shape.levels));
}

Shape shape_of(const Settings& settings, std::size_t elements) {
  const Qsgd qsgd = qsgd_of(settings);
  if (qsgd.coding != Coding::fixed)
    throw std::invalid_argument("qsgd on a CUDA device: coding = " + settings.word("coding") +
                                ": allowed is fixed");
  return {qsgd.bits,
          qsgd.levels,
          qsgd.bucket,
          elements,
          (elements + qsgd.bucket - 1) / qsgd.bucket,
          qsgd.max_norm,
          with_feedback(settings)};
}

void encode(const Settings& settings, const DeviceInput& input, const Draw& draw,
            const DeviceOutput& output, void*, void* stream) {
  const Shape shape = shape_of(settings, input.elements);
  if (shape.buckets > 0)
    with_gradient(input, [&]<class Value>(const Value* g) {
      launch(quantise_kernel<Value>, static_cast<unsigned>((shape.buckets + 7) / 8), 256, stream, g,
             input.residual, shape, draw, reinterpret_cast<float*>(output.message),
             reinterpret_cast<unsigned char*>(output.message) + 4 * shape.buckets);
    });
}

void decode_add(const Settings& settings, const std::byte* message, std::size_t, const Draw&,
                float* sum, std::size_t elements, void*, void* stream) {
  const Shape shape = shape_of(settings, elements);
  if (elements > 0)
    launch(dequantise_kernel, static_cast<unsigned>((elements + 255) / 256), 256, stream, message,
           shape, sum);
}

std::size_t message_room(const Settings& settings, std::size_t elements) {
  const Shape shape = shape_of(settings, elements);
  return 4 * shape.buckets + packed_bytes(elements, shape.bits);
}

std::size_t workspace_bytes(const Settings&, std::size_t) {
  return 0;
}

const Registered<DeviceCompressor> entry{{.name = "qsgd",
                                          .halves = true,
                                          .message_room = message_room,
                                          .workspace_bytes = workspace_bytes,
                                          .encode = encode,
                                          .decode_add = decode_add}};

}  // namespace
}  // namespace syncline

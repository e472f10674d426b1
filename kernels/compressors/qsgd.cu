// QSGD on a GPU. Fixed-width codes take one pass, with a warp per bucket: lane l takes elements l,
// l + 32, ...; eight rows share one Philox call per lane. Elias codes are left to CPUs.
#include "kernels/arithmetic/packing.h"
#include "kernels/compressors/qsgd.h"
#include "kernels/gpu/device.cuh"

namespace syncline {
namespace {

struct QsgdShape {
  Qsgd qsgd;
  std::size_t elements, buckets;
  unsigned bucket_shift;  // log2 of a bucket's elements
  bool feedback;
};

__device__ float bucket_scale(const QsgdShape& shape, float squares, std::uint32_t top) {
  float scale = 0;
  if (shape.qsgd.max_norm) {
    scale = __uint_as_float(warp_top(top));
  } else {
    scale = static_cast<float>(sqrt(ordered_sum(squares)));
  }
  return canonical(scale);
}

// Joins the codes of eight neighbouring lanes; all eight get the result.
template <class Word>
__device__ Word packed_eight(unsigned code, unsigned bits) {
  Word word = static_cast<Word>(code) << (threadIdx.x % 8 * bits);
  for (unsigned step = 1; step < 8; step *= 2)
    word |= __shfl_xor_sync(all_lanes, word, step);
  return word;
}

// Writes a row of 32 codes. Each eight codes make `bits` bytes; one lane writes each byte.
__device__ void write_row(unsigned char* row, unsigned code, unsigned bits, std::size_t present) {
  const unsigned lane = lane_of_warp(), byte = lane / 8 * bits + lane % 8;
  const std::uint64_t word =
      bits <= 4 ? packed_eight<std::uint32_t>(code, bits) : packed_eight<std::uint64_t>(code, bits);
  if (lane % 8 < bits && byte < packed_bytes(present, bits))
    row[byte] = static_cast<unsigned char>(word >> (lane % 8 * 8));
}

// A warp keeps values of a bucket up to this length in registers, and reads the rest of longer ones
// again.
constexpr unsigned kept_batches = 2;
constexpr std::size_t batch_elements = 32 * batch, usual_bucket = kept_batches * batch_elements;
static_assert(batch_elements == random_block);

// Makes the codes of a bucket and stores its new residual.
struct BucketCodes {
  int levels;
  unsigned sign_bit;
  float inverse, step;
  float* residual;  // null: no residual is kept

  __device__ unsigned operator()(float value, std::size_t i, std::uint32_t random) const {
    const std::uint32_t level = level_of(value, inverse, levels, random);
    const float sent = from_level(level, value < 0, step);
    if (residual != nullptr)
      residual[i] = isfinite(sent) ? value - sent : 0.0f;
    return level | (value < 0 ? sign_bit : 0u);
  }
};

// A batch of codes of 2, 4 or 8 bits: lanes collect whole words of codes, and one store writes
// them.
template <unsigned bits>
struct BatchOfCodes {
  static constexpr unsigned in_word = 32 / bits;
  std::uint32_t mine = 0;

  __device__ void take(unsigned row, unsigned code) {  // call for rows in order
    std::uint32_t word = code << (threadIdx.x % in_word * bits);
#pragma unroll
    for (unsigned step = 1; step < in_word; step *= 2)
      word |= __shfl_xor_sync(all_lanes, word, step);
    const unsigned lane = lane_of_warp();
    word = __shfl_sync(all_lanes, word, lane % bits * in_word);
    mine = lane / bits == row % (32 / bits) ? word : mine;
  }
  __device__ void store(unsigned row, unsigned char* codes) const {  // call after take of this row
    constexpr unsigned rows_of_store = batch < 32 / bits ? batch : 32 / bits;
    if (row % rows_of_store == rows_of_store - 1 && lane_of_warp() < rows_of_store * bits)
      reinterpret_cast<std::uint32_t*>(codes)[row / rows_of_store * 32 + lane_of_warp()] = mine;
  }
};

// Writes a whole batch, from this lane's first element on.
template <unsigned bits>
__device__ void write_batch(const float (&sums)[batch], const BucketCodes& code_of,
                            std::size_t first, const PhiloxWords& words, unsigned char* codes) {
  BatchOfCodes<bits> all;
#pragma unroll
  for (unsigned row = 0; row < batch; ++row) {
    const std::uint32_t random = words[row / 2] >> (row % 2 * 16) & 0xffffu;
    all.take(row, code_of(sums[row], first + row * 32, random));
    all.store(row, codes);
  }
}

// If known_bits is 2, 4 or 8, buckets have the usual length, and the compiler knows everything
// about the codes; 0 is the general version.
template <class Value, unsigned known_bits>
__global__ void __launch_bounds__(256, 4)  // 64 registers, so that four blocks fit
    quantise_kernel(const Value* g, float* residual, QsgdShape shape, Draw draw, float* scales,
                    unsigned char* codes) {
  constexpr bool usual = known_bits != 0;
  const unsigned bits = usual ? known_bits : shape.qsgd.bits;
  const int levels = usual ? static_cast<int>((1u << known_bits >> 1) - 1) : shape.qsgd.levels;
  const unsigned lane = lane_of_warp();
  const std::size_t bucket = grid_warp();
  if (bucket >= shape.buckets)
    return;
  const std::size_t length = usual ? usual_bucket : shape.qsgd.bucket, begin = bucket * length;
  const std::size_t end = begin + length < shape.elements ? begin + length : shape.elements;
  float squares = 0;
  std::uint32_t top = 0;
  float kept[kept_batches][batch], values[batch];
  const auto load = [&](std::size_t at, float(&sums)[batch]) {
    load_sums(g, residual, at + lane, left_of(at + lane, end), shape.feedback, sums);
  };
  const auto add = [&](const float(&sums)[batch]) {
#pragma unroll
    for (unsigned row = 0; row < batch; ++row) {  // zeros past the end
      squares += sums[row] * sums[row];
      const std::uint32_t key = magnitude_key(sums[row]);
      top = top > key ? top : key;
    }
  };
#pragma unroll
  for (unsigned k = 0; k < kept_batches; ++k)
    load(begin + k * batch_elements, kept[k]);
#pragma unroll
  for (unsigned k = 0; k < kept_batches; ++k)
    add(kept[k]);
  const std::size_t others = begin + usual_bucket;
  for (std::size_t at = others; !usual && at < end; at += batch_elements) {
    load(at, values);
    add(values);
  }
  const float scale = bucket_scale(shape, squares, top);
  if (lane == 0)
    scales[bucket] = scale;
  const BucketCodes code_of{levels, 1u << bits >> 1, inverse_unit(scale, levels),
                            scale / static_cast<float>(levels),
                            shape.feedback ? residual : nullptr};
  const auto write = [&](const float(&sums)[batch], std::size_t at) {
    if (at >= end)
      return;
    const PhiloxWords words = random_words(draw, at / random_block * 32 + (at + lane) % 32);
    unsigned char* const to = codes + at / 8 * bits;
    if constexpr (usual) {
      if (end - at >= batch_elements) {
        write_batch<known_bits>(sums, code_of, at + lane, words, to);
        return;
      }
    }
    const unsigned left = left_of(at + lane, end);
#pragma unroll
    for (unsigned row = 0; row < batch; ++row) {
      if (at + row * 32 >= end)
        break;
      const unsigned slot = usual ? row : (static_cast<unsigned>(at / 32) + row) % 8;
      unsigned code = 0;
      if (row * 32 < left)
        code =
            code_of(sums[row], at + lane + row * 32, words[slot / 2] >> (slot % 2 * 16) & 0xffffu);
      write_row(to + row * 4 * bits, code, bits, end - at - row * 32);
    }
  };
#pragma unroll
  for (unsigned k = 0; k < kept_batches; ++k)
    write(kept[k], begin + k * batch_elements);
  for (std::size_t at = others; !usual && at < end; at += batch_elements) {
    load(at, values);
    write(values, at);
  }
}

template <class Value>
auto quantiser(const Qsgd& qsgd) {
  const bool usual = qsgd.bucket == usual_bucket;
  return usual && qsgd.bits == 2   ? quantise_kernel<Value, 2>
         : usual && qsgd.bits == 4 ? quantise_kernel<Value, 4>
         : usual && qsgd.bits == 8 ? quantise_kernel<Value, 8>
                                   : quantise_kernel<Value, 0>;
}

// Reads the codes of a message; if known_bits is not 0, one load reads four.
template <unsigned known_bits>
struct QsgdCodes {
  using Word = std::conditional_t<known_bits == 8, std::uint32_t,
                                  std::conditional_t<known_bits == 4, std::uint16_t, std::uint8_t>>;
  const QsgdShape& shape;
  const float* scales;
  const std::byte* codes;

  __device__ QsgdCodes(const std::byte* message, const QsgdShape& of_shape)
      : shape(of_shape),
        scales(reinterpret_cast<const float*>(message)),
        codes(message + 4 * shape.buckets) {}

  __device__ auto operator()(std::size_t first, bool four_there) const {
    const bool one_load = known_bits != 0 && four_there;
    const unsigned word = one_load ? reinterpret_cast<const Word*>(codes)[first / 4] : 0;
    const unsigned sign_bit = shape.qsgd.sign_bit();
    const float step = scales[first >> shape.bucket_shift] / static_cast<float>(shape.qsgd.levels);
    return [=, this](unsigned k) {
      const unsigned code = one_load ? word >> k * known_bits & (2 * sign_bit - 1)
                                     : get_number(codes, first + k, shape.qsgd.bits);
      return from_level(code & (sign_bit - 1), (code & sign_bit) != 0, step);
    };
  }
};

QsgdShape shape_of(const Settings& settings, std::size_t elements) {
  const Qsgd qsgd = qsgd_of(settings);
  return {qsgd, elements, (elements + qsgd.bucket - 1) / qsgd.bucket,
          static_cast<unsigned>(std::countr_zero(qsgd.bucket)), with_feedback(settings)};
}

void encode(const Settings& settings, const DeviceInput& input, const Draw& draw,
            const DeviceOutput& output, void*, void* stream) {
  const QsgdShape shape = shape_of(settings, input.elements);
  float* const scales = reinterpret_cast<float*>(output.message);
  if (shape.buckets > 0)
    with_gradient(input, [&]<class Value>(const Value* g) {
      launch(quantiser<Value>(shape.qsgd), static_cast<unsigned>((shape.buckets + 7) / 8), 256,
             stream, g, input.residual, shape, draw, scales,
             reinterpret_cast<unsigned char*>(scales + shape.buckets));
    });
}

void decode_add(const Settings& settings, const DeviceMessages& messages, const Draw&, float* sum,
                std::size_t elements, void*, void* stream) {
  const QsgdShape shape = shape_of(settings, elements);
  switch (shape.qsgd.bits) {
    case 2:
      return add_dense<QsgdCodes<2>>(messages, sum, elements, stream, shape);
    case 4:
      return add_dense<QsgdCodes<4>>(messages, sum, elements, stream, shape);
    case 8:
      return add_dense<QsgdCodes<8>>(messages, sum, elements, stream, shape);
    default:
      return add_dense<QsgdCodes<0>>(messages, sum, elements, stream, shape);
  }
}

const Registered<DeviceCompressor> entry{{.name = "qsgd",
                                          .halves = true,
                                          .check = refuse_elias,
                                          .encode = encode,
                                          .decode_add = decode_add}};

}  // namespace
}  // namespace syncline

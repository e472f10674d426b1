// QSGD on a GPU. Codes of fixed width: one pass, a warp per bucket. Lane l takes elements l, l +
// 32, ...; eight rows share one Philox call per lane.
//
// Elias codes: the same pass into the workspace, then one that finds the place of every bucket by
// look-back and writes its bits. Decoding has to find the buckets in the message: for every byte,
// how long a bucket that began there would be (most soon show that none does), then a walk from
// bucket to bucket; these go to fixed width in the workspace, and from there into the sum.
#include <cuda_runtime.h>

#include "kernels/arithmetic/feedback.h"
#include "kernels/arithmetic/packing.h"
#include "kernels/compressors/qsgd.h"
#include "kernels/gpu/device.h"
#include "kernels/gpu/lookback.cuh"
#include "kernels/gpu/selection.cuh"

namespace syncline {
namespace {

struct Shape {
  Qsgd qsgd;
  std::size_t elements, buckets;
  bool feedback;
};

std::size_t fixed_bytes(const Shape& shape) {
  return 4 * shape.buckets + packed_bytes(shape.elements, shape.qsgd.bits);
}

__device__ unsigned code_at(const unsigned char* codes, std::size_t i, const Shape& shape) {
  const std::size_t bit = i * shape.qsgd.bits;
  const std::size_t last = packed_bytes(shape.elements, shape.qsgd.bits) - 1;
  unsigned word = codes[bit / 8];
  if (bit / 8 < last)
    word |= static_cast<unsigned>(codes[bit / 8 + 1]) << 8;
  return word >> bit % 8 & ((1u << shape.qsgd.bits) - 1);
}

__device__ float bucket_scale(const Shape& shape, float squares, std::uint32_t top) {
  float scale = 0;
  if (shape.qsgd.max_norm) {
    for (unsigned step = 16; step > 0; step /= 2) {
      const std::uint32_t other = __shfl_xor_sync(all_lanes, top, step);
      top = top > other ? top : other;
    }
    scale = __uint_as_float(top);
  } else {
    scale = static_cast<float>(sqrt(ordered_sum(squares)));
  }
  return canonical(scale);
}

// The codes of eight neighbouring lanes side by side, in each of the eight.
template <class Word>
__device__ Word packed_eight(unsigned code, unsigned bits) {
  Word word = static_cast<Word>(code) << (threadIdx.x % 8 * bits);
  for (unsigned step = 1; step < 8; step *= 2)
    word |= __shfl_xor_sync(all_lanes, word, step);
  return word;
}

// A row of 32 codes. Eight of them make `bits` bytes; the lane of each byte writes it.
__device__ void write_row(unsigned char* row, unsigned code, unsigned bits, std::size_t present) {
  const unsigned lane = lane_of_warp(), byte = lane / 8 * bits + lane % 8;
  const std::uint64_t word =
      bits <= 4 ? packed_eight<std::uint32_t>(code, bits) : packed_eight<std::uint64_t>(code, bits);
  if (lane % 8 < bits && byte < packed_bytes(present, bits))
    row[byte] = static_cast<unsigned char>(word >> (lane % 8 * 8));
}

// A warp keeps what it has read of buckets up to this long; of longer ones it reads the rest again.
constexpr unsigned kept_batches = 2;

template <class Value>
__global__ void __launch_bounds__(256, 4)  // 64 registers: four blocks at once
    quantise_kernel(const Value* g, float* residual, Shape shape, Draw draw, float* scales,
                    unsigned char* codes) {
  const unsigned lane = lane_of_warp();
  const std::size_t bucket = grid_warp();
  if (bucket >= shape.buckets)
    return;
  const std::size_t begin = bucket * shape.qsgd.bucket;
  const std::size_t end =
      begin + shape.qsgd.bucket < shape.elements ? begin + shape.qsgd.bucket : shape.elements;
  float squares = 0;
  std::uint32_t top = 0;
  float kept[kept_batches][batch], values[batch];
  const auto load = [&](std::size_t at, float(&sums)[batch]) {
    load_sums(g, residual, at + lane, left_of(at + lane, end), shape.feedback, sums);
  };
  const auto add = [&](const float(&sums)[batch]) {
#pragma unroll
    for (unsigned row = 0; row < batch; ++row) {  // past the end there are zeros
      squares += sums[row] * sums[row];
      const std::uint32_t key = magnitude_key(sums[row]);
      top = top > key ? top : key;
    }
  };
  constexpr std::size_t batch_elements = 32 * batch;
#pragma unroll
  for (unsigned k = 0; k < kept_batches; ++k)
    load(begin + k * batch_elements, kept[k]);
#pragma unroll
  for (unsigned k = 0; k < kept_batches; ++k)
    add(kept[k]);
  const std::size_t others = begin + kept_batches * batch_elements;
  for (std::size_t at = others; at < end; at += batch_elements) {
    load(at, values);
    add(values);
  }
  const float scale = bucket_scale(shape, squares, top);
  const float inverse = inverse_unit(scale, shape.qsgd.levels);
  const float step = scale / static_cast<float>(shape.qsgd.levels);
  if (lane == 0)
    scales[bucket] = scale;
  const unsigned sign_bit = shape.qsgd.sign_bit();
  const auto write = [&](const float(&sums)[batch], std::size_t at) {
    if (at >= end)
      return;
    const PhiloxWords words = random_words(draw, at / random_block * 32 + (at + lane) % 32);
    const unsigned left = left_of(at + lane, end);
#pragma unroll
    for (unsigned row = 0; row < batch; ++row) {
      if (at + row * 32 >= end)
        break;
      const unsigned slot = (static_cast<unsigned>(at / 32) + row) % 8;
      unsigned code = 0;
      if (row * 32 < left) {
        const float value = sums[row];
        const std::uint32_t random = words[slot / 2] >> (slot % 2 * 16) & 0xffffu;
        const std::uint32_t level = level_of(value, inverse, shape.qsgd.levels, random);
        code = level | (value < 0 ? sign_bit : 0u);
        const float sent = from_level(level, value < 0, step);
        if (shape.feedback)
          residual[at + lane + row * 32] = isfinite(sent) ? value - sent : 0.0f;
      }
      write_row(codes + (at / 8 + row * 4) * shape.qsgd.bits, code, shape.qsgd.bits,
                end - at - row * 32);
    }
  };
#pragma unroll
  for (unsigned k = 0; k < kept_batches; ++k)
    write(kept[k], begin + k * batch_elements);
  for (std::size_t at = others; at < end; at += batch_elements) {
    load(at, values);
    write(values, at);
  }
}

__global__ void dequantise_kernel(const std::byte* message, Shape shape, float* sum) {
  const std::size_t i = grid_thread();
  if (i >= shape.elements)
    return;
  const float scale = reinterpret_cast<const float*>(message)[i / shape.qsgd.bucket];
  const unsigned code =
      code_at(reinterpret_cast<const unsigned char*>(message + 4 * shape.buckets), i, shape);
  const unsigned sign_bit = shape.qsgd.sign_bit();
  sum[i] += from_level(code & (sign_bit - 1), (code & sign_bit) != 0,
                       scale / static_cast<float>(shape.qsgd.levels));
}

// The workspace of Elias codes.
struct Room {
  Selection* selection;
  unsigned long long* places;  // of tiles in a look-back, or of buckets in a message
  float* scales;               // these and the codes: the message of fixed width
  unsigned char* codes;
  std::uint16_t* lengths;  // from every byte of a message
};

std::size_t coded_room(const Shape& shape) {
  return shape.buckets * most_coded_bytes(shape.qsgd, shape.qsgd.bucket);
}

Room room_of(void* workspace, const Shape& shape) {
  static_assert(sizeof(Selection) <= 1024);
  char* at = static_cast<char*>(workspace);
  Room room{};
  room.selection = reinterpret_cast<Selection*>(at);
  room.places = reinterpret_cast<unsigned long long*>(at += 1024);
  room.scales = reinterpret_cast<float*>(at += 8 * shape.buckets);
  room.codes = reinterpret_cast<unsigned char*>(at + 4 * shape.buckets);
  room.lengths = reinterpret_cast<std::uint16_t*>(at + (fixed_bytes(shape) + 1) / 2 * 2);
  return room;
}

// The codes of one bucket, row by row of 32, as a warp sees them.
struct Rows {
  const Shape& shape;
  const unsigned char* codes;
  std::size_t begin, count;
  unsigned last = 0;  // positions count from one

  // Of Code_s the end is one element more.
  __device__ std::size_t end() const {
    return shape.qsgd.coding == Coding::sparse ? count + 1 : count;
  }

  // What this lane adds in this row, to be asked for in order.
  __device__ Bits bits(unsigned row) {
    const unsigned i = row + lane_of_warp();
    const unsigned code = i < count ? code_at(codes, begin + i, shape) : 0;
    if (shape.qsgd.coding == Coding::dense)
      return i < count ? coded(shape.qsgd, 1, code) : Bits{};
    const bool coding = i == count || (code & (shape.qsgd.sign_bit() - 1)) != 0;
    const unsigned all = __ballot_sync(all_lanes, coding), lower = all & lanes_below();
    const unsigned before = lower != 0 ? row + std::bit_width(lower) : last;
    if (all != 0)
      last = row + std::bit_width(all);
    if (!coding)
      return {};
    return i == count ? elias(i + 1 - before) : coded(shape.qsgd, i + 1 - before, code);
  }
};

// A row has 32 codes of up to 35 bits, and what the row before left of a byte.
constexpr unsigned row_words = 36;
using RowWords = std::uint32_t[row_words];  // the highest bit of each first

__device__ void put(RowWords& words, unsigned at, Bits bits) {
  for (unsigned left = bits.count; left > 0;) {
    const unsigned taken = left < 32 - at % 32 ? left : 32 - at % 32;
    left -= taken;
    const std::uint64_t part = bits.word >> left & ((1ull << taken) - 1);
    atomicOr(&words[at / 32], static_cast<std::uint32_t>(part) << (32 - at % 32 - taken));
    at += taken;
  }
}

__device__ unsigned byte_of(const RowWords& words, unsigned i) {
  return words[i / 4] >> (24 - i % 4 * 8) & 0xffu;
}

// One warp writes one bucket.
__device__ void write_bucket(Rows rows, float scale, RowWords& words, unsigned char* out) {
  const unsigned lane = lane_of_warp();
  if (lane < 4)
    out[lane] = static_cast<unsigned char>(__float_as_uint(scale) >> (24 - 8 * lane));
  out += 4;
  unsigned kept = 0, kept_byte = 0;  // bits of a byte that is not full, and these
  for (unsigned row = 0; row < rows.end(); row += 32) {
    const Bits bits = rows.bits(row);
    unsigned end = bits.count;
    for (unsigned step = 1; step < 32; step *= 2) {
      const unsigned earlier = __shfl_sync(all_lanes, end, lane - step);
      end += lane >= step ? earlier : 0;
    }
    const unsigned total = kept + __shfl_sync(all_lanes, end, 31);
    for (unsigned i = lane; i < row_words; i += 32)
      words[i] = i == 0 ? kept_byte << 24 : 0;
    __syncwarp();
    put(words, kept + end - bits.count, bits);
    __syncwarp();
    const unsigned whole = row + 32 < rows.end() ? total / 8 : (total + 7) / 8;
    for (unsigned i = lane; i < whole; i += 32)
      out[i] = static_cast<unsigned char>(byte_of(words, i));
    kept = total % 8;
    kept_byte = kept != 0 ? byte_of(words, total / 8) : 0;
    out += whole;
    __syncwarp();
  }
}

// A warp per bucket; a tile is as many buckets as a block has warps.
__global__ void __launch_bounds__(block_threads)
    code_kernel(Room room, Shape shape, DeviceOutput output) {
  __shared__ TileCounts shared;
  __shared__ RowWords words[warps];
  const unsigned warp = threadIdx.x / 32;
  const std::size_t tiles = (shape.buckets + warps - 1) / warps;
  for (std::uint32_t tile = next_tile(room.selection, shared); tile < tiles;
       tile = next_tile(room.selection, shared)) {
    const std::size_t bucket = std::size_t{tile} * warps + warp;
    const std::size_t begin = bucket * shape.qsgd.bucket;
    const std::size_t left = begin < shape.elements ? shape.elements - begin : 0;
    const Rows rows{shape, room.codes, begin, left < shape.qsgd.bucket ? left : shape.qsgd.bucket};
    unsigned bits = 0;
    Rows counted = rows;
    for (unsigned row = 0; bucket < shape.buckets && row < rows.end(); row += 32)
      bits += counted.bits(row).count;
    bits = warp_sum(bits);
    const Place place =
        place_of(room.places, shared, bucket < shape.buckets ? 4 + (bits + 7) / 8 : 0);
    if (bucket < shape.buckets)
      write_bucket(rows, room.scales[bucket], words[warp],
                   reinterpret_cast<unsigned char*>(output.message) + place.begin);
    if (tile == tiles - 1 && threadIdx.x == 0)
      *output.selected = place.end;
  }
}

static_assert(most_coded_bytes({8, 127, 8192, true, Coding::dense}, 8192) < 65536 &&
              most_coded_bytes({8, 127, 8192, true, Coding::sparse}, 8192) < 65536);

// How many bytes a whole bucket that began at byte i would have; 0: none can begin there.
__global__ void measure_kernel(const std::byte* message, std::size_t bytes, Qsgd qsgd,
                               std::uint16_t* lengths) {
  const std::size_t i = grid_thread();
  if (i >= bytes)
    return;
  BitReader in({message + i, bytes - i});
  read_bucket(qsgd, qsgd.bucket, in, [](std::size_t, std::uint32_t) {});
  lengths[i] = in.wrong() == nullptr ? static_cast<std::uint16_t>(in.bytes_read()) : 0;
}

// One thread walks from bucket to bucket; a block brings it the lengths.
__global__ void __launch_bounds__(block_threads)
    walk_kernel(const std::uint16_t* lengths, std::size_t bytes, std::size_t buckets,
                unsigned long long* places) {
  constexpr std::size_t window = 16384;
  __shared__ std::uint16_t here[window];
  std::size_t bucket = 0, at = 0;
  for (std::size_t begin = 0; begin < bytes; begin += window) {
    for (std::size_t i = threadIdx.x; i < window && begin + i < bytes; i += blockDim.x)
      here[i] = lengths[begin + i];
    __syncthreads();
    while (threadIdx.x == 0 && bucket < buckets && at < bytes && at < begin + window) {
      places[bucket++] = at;
      at += here[at - begin];
    }
    __syncthreads();
  }
}

// From a bucket's place in the message to fixed width. A thread per bucket: buckets share no byte.
__global__ void unpack_kernel(const std::byte* message, std::size_t bytes, Shape shape, Room room) {
  const std::size_t bucket = grid_thread();
  if (bucket >= shape.buckets)
    return;
  const std::size_t begin = bucket * shape.qsgd.bucket, left = shape.elements - begin;
  const std::size_t place = room.places[bucket];
  BitReader in({message + place, bytes - place});
  room.scales[bucket] =
      read_bucket(shape.qsgd, left < shape.qsgd.bucket ? left : shape.qsgd.bucket, in,
                  [&](std::size_t i, std::uint32_t code) {
                    const std::size_t bit = (begin + i) * shape.qsgd.bits;
                    unsigned char* byte = room.codes + bit / 8;
                    *byte = static_cast<unsigned char>(*byte | code << bit % 8);
                    if (bit % 8 + shape.qsgd.bits > 8)
                      byte[1] = static_cast<unsigned char>(byte[1] | code >> (8 - bit % 8));
                  });
}

Shape shape_of(const Settings& settings, std::size_t elements) {
  const Qsgd qsgd = qsgd_of(settings);
  return {qsgd, elements, (elements + qsgd.bucket - 1) / qsgd.bucket, with_feedback(settings)};
}

void encode(const Settings& settings, const DeviceInput& input, const Draw& draw,
            const DeviceOutput& output, void* workspace, void* stream) {
  const Shape shape = shape_of(settings, input.elements);
  const bool fixed = shape.qsgd.coding == Coding::fixed;
  const Room room = room_of(workspace, shape);
  std::byte* quantised = fixed ? output.message : reinterpret_cast<std::byte*>(room.scales);
  if (shape.buckets > 0)
    with_gradient(input, [&]<class Value>(const Value* g) {
      launch(quantise_kernel<Value>, static_cast<unsigned>((shape.buckets + 7) / 8), 256, stream, g,
             input.residual, shape, draw, reinterpret_cast<float*>(quantised),
             reinterpret_cast<unsigned char*>(quantised) + 4 * shape.buckets);
    });
  if (fixed)
    return;
  cudaMemsetAsync(output.selected, 0, sizeof *output.selected, stream_of(stream));
  cudaMemsetAsync(room.places, 0, 8 * shape.buckets, stream_of(stream));
  cudaMemsetAsync(&room.selection->ticket, 0, sizeof room.selection->ticket, stream_of(stream));
  launch(code_kernel, persistent_blocks(), block_threads, stream, room, shape, output);
}

void decode_add(const Settings& settings, const std::byte* message, std::size_t bytes, const Draw&,
                float* sum, std::size_t elements, void* workspace, void* stream) {
  const Shape shape = shape_of(settings, elements);
  if (elements == 0)
    return;
  if (shape.qsgd.coding == Coding::fixed) {
    launch(dequantise_kernel, blocks_of(elements), 256, stream, message, shape, sum);
    return;
  }
  const Room room = room_of(workspace, shape);
  launch(measure_kernel, blocks_of(bytes), 256, stream, message, bytes, shape.qsgd, room.lengths);
  launch(walk_kernel, 1, block_threads, stream, room.lengths, bytes, shape.buckets, room.places);
  cudaMemsetAsync(room.codes, 0, packed_bytes(elements, shape.qsgd.bits), stream_of(stream));
  launch(unpack_kernel, blocks_of(shape.buckets), 256, stream, message, bytes, shape, room);
  launch(dequantise_kernel, blocks_of(elements), 256, stream,
         reinterpret_cast<const std::byte*>(room.scales), shape, sum);
}

std::size_t message_room(const Settings& settings, std::size_t elements) {
  const Shape shape = shape_of(settings, elements);
  return shape.qsgd.coding == Coding::fixed ? fixed_bytes(shape) : coded_room(shape);
}

std::vector<MessagePart> parts(const Settings& settings, std::size_t elements, Precision,
                               std::uint64_t written) {
  const Shape shape = shape_of(settings, elements);
  return {{0, shape.qsgd.coding == Coding::fixed ? fixed_bytes(shape) : written}};
}

std::size_t workspace_bytes(const Settings& settings, std::size_t elements) {
  const Shape shape = shape_of(settings, elements);
  if (shape.qsgd.coding == Coding::fixed)
    return 0;
  return 1024 + 8 * shape.buckets + fixed_bytes(shape) + 1 + 2 * coded_room(shape);
}

const Registered<DeviceCompressor> entry{{.name = "qsgd",
                                          .halves = true,
                                          .message_room = message_room,
                                          .parts = parts,
                                          .workspace_bytes = workspace_bytes,
                                          .encode = encode,
                                          .decode_add = decode_add}};

}  // namespace
}  // namespace syncline

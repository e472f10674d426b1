// QSGD's Elias codes on a GPU, made from fixed-width codes in the workspace and decoded into them.
//
// Encoding finds the place of every bucket by look-back and writes its bits. Decoding must find the
// buckets in the message: it computes, for every byte, the length of a bucket that would begin
// there (most bytes soon turn out to begin none), then walks from bucket to bucket.
#pragma once

#include "kernels/arithmetic/packing.h"
#include "kernels/compressors/qsgd.h"
#include "kernels/gpu/lookback.cuh"

namespace syncline {

struct QsgdShape {
  Qsgd qsgd;
  std::size_t elements, buckets;
  unsigned bucket_shift;  // log2 of a bucket's elements
  bool feedback;
};

inline std::size_t fixed_bytes(const QsgdShape& shape) {
  return 4 * shape.buckets + packed_bytes(shape.elements, shape.qsgd.bits);
}

__device__ inline unsigned code_at(const unsigned char* codes, std::size_t i,
                                   const QsgdShape& shape) {
  const std::size_t bit = i * shape.qsgd.bits;
  const std::size_t last = packed_bytes(shape.elements, shape.qsgd.bits) - 1;
  unsigned word = codes[bit / 8];
  if (bit / 8 < last)
    word |= static_cast<unsigned>(codes[bit / 8 + 1]) << 8;
  return word >> bit % 8 & ((1u << shape.qsgd.bits) - 1);
}

// The workspace of Elias codes.
struct EliasRoom {
  unsigned* ticket;            // of a look-back
  unsigned long long* places;  // of tiles in a look-back, or of buckets in the message
  float* scales;               // with `codes`: the fixed-width message
  unsigned char* codes;
  std::uint16_t* lengths;  // of a bucket that begins at each byte of the message
};

inline std::size_t coded_room(const QsgdShape& shape) {
  return shape.buckets * most_coded_bytes(shape.qsgd, shape.qsgd.bucket);
}

inline EliasRoom room_of(void* workspace, const QsgdShape& shape) {
  char* at = static_cast<char*>(workspace);
  EliasRoom room{};
  room.ticket = reinterpret_cast<unsigned*>(at);
  room.places = reinterpret_cast<unsigned long long*>(at += 1024);
  room.scales = reinterpret_cast<float*>(at += 8 * shape.buckets);
  room.codes = reinterpret_cast<unsigned char*>(at + 4 * shape.buckets);
  room.lengths = reinterpret_cast<std::uint16_t*>(at + (fixed_bytes(shape) + 1) / 2 * 2);
  return room;
}

// The codes of one bucket, in rows of 32, one per lane of a warp.
struct EliasRows {
  const QsgdShape& shape;
  const unsigned char* codes;
  std::size_t begin, count;
  unsigned last = 0;  // positions count from one

  // Code_s ends with one code more.
  __device__ std::size_t end() const {
    return shape.qsgd.coding == Coding::sparse ? count + 1 : count;
  }

  // The bits that this lane adds in a row; call for rows in order.
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

// A row has 32 codes of up to 35 bits, and the unfinished byte of the row before.
inline constexpr unsigned row_words = 36;
using RowWords = std::uint32_t[row_words];  // highest bit first

__device__ inline void put(RowWords& words, unsigned at, Bits bits) {
  for (unsigned left = bits.count; left > 0;) {
    const unsigned taken = left < 32 - at % 32 ? left : 32 - at % 32;
    left -= taken;
    const std::uint64_t part = bits.word >> left & ((1ull << taken) - 1);
    atomicOr(&words[at / 32], static_cast<std::uint32_t>(part) << (32 - at % 32 - taken));
    at += taken;
  }
}

__device__ inline unsigned byte_of(const RowWords& words, unsigned i) {
  return words[i / 4] >> (24 - i % 4 * 8) & 0xffu;
}

// One warp writes one bucket.
__device__ inline void write_bucket(EliasRows rows, float scale, RowWords& words,
                                    unsigned char* out) {
  const unsigned lane = lane_of_warp();
  if (lane < 4)
    out[lane] = static_cast<unsigned char>(__float_as_uint(scale) >> (24 - 8 * lane));
  out += 4;
  unsigned kept = 0, kept_byte = 0;  // bits of an unfinished byte, and these bits
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

// One warp per bucket; a tile has as many buckets as a block has warps.
static __global__ void __launch_bounds__(block_threads)
    code_kernel(EliasRoom room, QsgdShape shape, DeviceOutput output) {
  __shared__ TileCounts shared;
  __shared__ RowWords words[warps];
  const unsigned warp = threadIdx.x / 32;
  const std::size_t tiles = (shape.buckets + warps - 1) / warps;
  for (std::uint32_t tile = first_tile(room.ticket, shared), next_tile = 0; tile < tiles;
       tile = next_tile) {
    const std::size_t bucket = std::size_t{tile} * warps + warp;
    const std::size_t begin = bucket * shape.qsgd.bucket;
    const std::size_t left = begin < shape.elements ? shape.elements - begin : 0;
    const EliasRows rows{shape, room.codes, begin,
                         left < shape.qsgd.bucket ? left : shape.qsgd.bucket};
    unsigned bits = 0;
    EliasRows counted = rows;
    for (unsigned row = 0; bucket < shape.buckets && row < rows.end(); row += 32)
      bits += counted.bits(row).count;
    bits = warp_sum(bits);
    const Place place = place_of(room.ticket, room.places, shared, tile,
                                 bucket < shape.buckets ? 4 + (bits + 7) / 8 : 0);
    next_tile = place.next;
    if (bucket < shape.buckets)
      write_bucket(rows, room.scales[bucket], words[warp],
                   reinterpret_cast<unsigned char*>(output.message) + place.begin);
    if (tile == tiles - 1 && threadIdx.x == 0)
      *output.selected = place.end;
  }
}

static_assert(most_coded_bytes({8, 127, 8192, true, Coding::dense}, 8192) < 65536 &&
              most_coded_bytes({8, 127, 8192, true, Coding::sparse}, 8192) < 65536);

// The length in bytes of a whole bucket that would begin at byte i; 0: none can begin there.
static __global__ void measure_kernel(const std::byte* message, std::size_t bytes, Qsgd qsgd,
                                      std::uint16_t* lengths) {
  const std::size_t i = grid_thread();
  if (i >= bytes)
    return;
  BitReader in({message + i, bytes - i});
  read_bucket(qsgd, qsgd.bucket, in, [](std::size_t, std::uint32_t) {});
  lengths[i] = in.wrong() == nullptr ? static_cast<std::uint16_t>(in.bytes_read()) : 0;
}

// One thread walks from bucket to bucket, and its block loads the lengths.
static __global__ void __launch_bounds__(block_threads)
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

// Turns each bucket into fixed-width codes. A thread per bucket: buckets share no byte.
static __global__ void unpack_kernel(const std::byte* message, std::size_t bytes, QsgdShape shape,
                                     EliasRoom room) {
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

// Writes the message of the codes in `room`.
inline void write_elias(const EliasRoom& room, const QsgdShape& shape, const DeviceOutput& output,
                        void* stream) {
  cudaMemsetAsync(output.selected, 0, sizeof *output.selected, stream_of(stream));
  cudaMemsetAsync(room.places, 0, 8 * shape.buckets, stream_of(stream));
  cudaMemsetAsync(room.ticket, 0, sizeof *room.ticket, stream_of(stream));
  launch(code_kernel, persistent_blocks(), block_threads, stream, room, shape, output);
}

// Leaves the codes of a message in `room`.
inline void read_elias(const std::byte* message, std::size_t bytes, const EliasRoom& room,
                       const QsgdShape& shape, void* stream) {
  launch_each(bytes, measure_kernel, stream, message, bytes, shape.qsgd, room.lengths);
  launch(walk_kernel, 1, block_threads, stream, room.lengths, bytes, shape.buckets, room.places);
  cudaMemsetAsync(room.codes, 0, packed_bytes(shape.elements, shape.qsgd.bits), stream_of(stream));
  launch_each(shape.buckets, unpack_kernel, stream, message, bytes, shape, room);
}

}  // namespace syncline

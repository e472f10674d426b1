// Chunk-wise top-k on a GPU. A block takes a chunk, keeps u = g + e in registers, and lists in
// order what is sent; the tensor is read once, and everything else works on the list.
#include "kernels/compressors/chunk-topk.h"
#include "kernels/gpu/chunks.cuh"
#include "kernels/gpu/selection_traffic.h"

namespace syncline {
namespace {

// The lists of all chunks, in the workspace.
struct ChunkRoom {
  LevelSums* sums = nullptr;          // of each chunk
  std::uint32_t* high_key = nullptr;  // one
  std::uint32_t* places = nullptr;
  std::uint32_t* bits = nullptr;
};

ChunkRoom room_in(void* workspace, const Chunks& chunks) {
  ChunkRoom room;
  room.sums = static_cast<LevelSums*>(workspace);
  room.high_key = reinterpret_cast<std::uint32_t*>(room.sums + chunks.count());
  room.places = room.high_key + 1;
  room.bits = room.places + chunks.sent();
  return room;
}

// The sums of a chunk's list, by one warp.
__device__ LevelSums list_sums(const std::uint32_t* bits, std::size_t count,
                               std::uint32_t high_key) {
  LevelSums mine;
  for (std::size_t j = lane_of_warp(); j < count; j += 32)
    mine.add(__uint_as_float(bits[j]), high_key);
  return ordered_sums(LevelSums{}, [&](unsigned from) {
    return LevelSums{
        __shfl_sync(all_lanes, mine.low, from), __shfl_sync(all_lanes, mine.lows, from),
        __shfl_sync(all_lanes, mine.high, from), __shfl_sync(all_lanes, mine.highs, from)};
  });
}

// Without feedback u is null. The values to send stay in u until write_kernel.
template <class Value>
__global__ void __launch_bounds__(chunk_threads, 2)
    select_kernel(const Value* g, float* u, LevelMessage chunks, float decay, ChunkRoom room) {
  const std::size_t c = blockIdx.x, begin = c * chunks.chunk;
  const unsigned count = static_cast<unsigned>(chunks.elements_of(c));
  const unsigned k = static_cast<unsigned>(chunks.sent_of(c));
  float values[chunk_rows];
  load_chunk(g, u, begin, count, values);
#pragma unroll
  for (unsigned row = 0; row < chunk_rows; ++row) {
    const unsigned i = row * chunk_threads + threadIdx.x;
    if (u != nullptr && i < count)
      u[begin + i] = kept_of(values[row], 0, decay);
  }
  if (k == 0)
    return;
  const std::size_t first = c * chunks.per_chunk;
  select_chunk(values, count, k, room.places + first, room.bits + first);
  if (threadIdx.x >= 32)
    return;
  const LevelSums sums = list_sums(room.bits + first, k, no_key);
  if (threadIdx.x == 0)
    room.sums[c] = sums;
}

// Runs as one block of 256 threads.
__global__ void __launch_bounds__(256) high_key_kernel(LevelMessage chunks, ChunkRoom room) {
  const LevelSums all = total_in_order(room.sums, chunks.sent() > 0 ? chunks.count() : 0);
  if (threadIdx.x == 0)
    *room.high_key = high_key_of(all);
}

__global__ void levels_kernel(LevelMessage chunks, ChunkRoom room) {
  const std::size_t c = grid_warp();
  if (c >= chunks.count())
    return;
  const LevelSums sums =
      list_sums(room.bits + c * chunks.per_chunk, chunks.sent_of(c), *room.high_key);
  if (lane_of_warp() == 0)
    room.sums[c] = sums;
}

__global__ void __launch_bounds__(256)
    scale_kernel(LevelMessage chunks, ChunkRoom room, float* message) {
  const LevelSums all = total_in_order(room.sums, chunks.sent() > 0 ? chunks.count() : 0);
  if (threadIdx.x != 0)
    return;
  message[0] = canonical(mean_of(all.low, all.lows));
  message[1] = canonical(mean_of(all.high, all.highs));
}

// Each thread writes eight places and eight codes, which fill whole bytes, and subtracts the sent
// values from u.
__global__ void write_kernel(float* u, LevelMessage chunks, float decay, ChunkRoom room,
                             std::byte* message) {
  const std::size_t begin = grid_thread() * 8, sent = chunks.sent();
  if (begin >= sent)
    return;
  const std::size_t count = sent - begin < 8 ? sent - begin : 8;
  const float low = reinterpret_cast<const float*>(message)[0];
  const float high = reinterpret_cast<const float*>(message)[1];
  const std::uint32_t high_key = *room.high_key;
  put_numbers(count, chunks.index_bits,
              message + chunks.indices_begin() + begin / 8 * chunks.index_bits,
              [&](std::size_t j) { return room.places[begin + j]; });
  put_numbers(
      count, level_bits, message + chunks.codes_begin() + begin / 8 * level_bits,
      [&](std::size_t j) { return level_code(__uint_as_float(room.bits[begin + j]), high_key); });
  for (std::size_t j = begin; u != nullptr && j < begin + count; ++j) {
    const float value = __uint_as_float(room.bits[j]);
    const float as_received = from_level_code(level_code(value, high_key), low, high);
    u[j / chunks.per_chunk * chunks.chunk + room.places[j]] = kept_of(value, as_received, decay);
  }
}

struct Levels {
  LevelMessage chunks;
  const std::byte* message;

  __device__ float value(std::size_t j) const {
    const float* levels = reinterpret_cast<const float*>(message);
    return from_level_code(get_number(message + chunks.codes_begin(), j, level_bits), levels[0],
                           levels[1]);
  }
  __device__ std::uint32_t place(std::size_t j) const {
    return get_number(message + chunks.indices_begin(), j, chunks.index_bits);
  }
};

__global__ void add_kernel(LevelMessage chunks, const std::byte* message, float* sum) {
  const std::size_t j = grid_thread();
  if (j >= chunks.sent())
    return;
  const Levels levels{chunks, message};
  sum[j / chunks.per_chunk * chunks.chunk + levels.place(j)] += levels.value(j);
}

// A block keeps its chunk of the sum in shared memory while it adds the values of each message.
__global__ void __launch_bounds__(256)
    add_all_kernel(LevelMessage chunks, DeviceMessages messages, float* sum) {
  __shared__ float kept[most_chunk_elements];
  const std::size_t c = blockIdx.x, begin = c * chunks.chunk;
  const unsigned count = static_cast<unsigned>(chunks.elements_of(c));
  const std::size_t first = c * chunks.per_chunk, sent = chunks.sent_of(c);
  for (unsigned i = threadIdx.x; i < count; i += 256)
    kept[i] = sum[begin + i];
  for (unsigned m = 0; m < messages.count; ++m) {
    const Levels levels{chunks, messages.at[m]};
    __syncthreads();
    for (std::size_t j = threadIdx.x; j < sent; j += 256)
      kept[levels.place(first + j)] += levels.value(first + j);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < count; i += 256)
    sum[begin + i] = kept[i];
}

void encode(const Settings& settings, const DeviceInput& input, const Draw&,
            const DeviceOutput& output, void* workspace, void* stream) {
  const LevelMessage chunks = level_message(settings, input.elements);
  const ChunkRoom room = room_in(workspace, chunks);
  const float decay = decay_of(settings);
  float* u = with_feedback(settings) ? input.residual : nullptr;
  if (chunks.count() > 0)
    with_gradient(input, [&]<class Value>(const Value* g) {
      launch(select_kernel<Value>, static_cast<unsigned>(chunks.count()), chunk_threads, stream, g,
             u, chunks, decay, room);
    });
  const std::size_t summed = chunks.sent() > 0 ? chunks.count() : 0;
  add_groups(room.sums, summed, stream);
  launch(high_key_kernel, 1, 256, stream, chunks, room);
  if (summed > 0)
    launch(levels_kernel, blocks_of_warps(summed), 128, stream, chunks, room);
  add_groups(room.sums, summed, stream);
  launch(scale_kernel, 1, 256, stream, chunks, room, reinterpret_cast<float*>(output.message));
  launch_each((chunks.sent() + 7) / 8, write_kernel, stream, u, chunks, decay, room,
              output.message);
}

void decode_add(const Settings& settings, const DeviceMessages& messages, const Draw&, float* sum,
                std::size_t elements, void*, void* stream) {
  const LevelMessage chunks = level_message(settings, elements);
  if (chunks.sent() == 0)
    return;
  if (messages.count > 1 && sweeps(messages.count * chunks.sent(), elements))
    launch(add_all_kernel, static_cast<unsigned>(chunks.count()), 256, stream, chunks, messages,
           sum);
  else
    for_each_message(messages, [&](const std::byte* message, std::size_t) {
      launch_each(chunks.sent(), add_kernel, stream, chunks, message, sum);
    });
}

std::size_t workspace_bytes(const Settings& settings, std::size_t elements) {
  const LevelMessage chunks = level_message(settings, elements);
  return chunks.count() * sizeof(LevelSums) + (1 + 2 * chunks.sent()) * sizeof(std::uint32_t);
}

const Registered<DeviceCompressor> entry{{.name = "chunk-topk",
                                          .halves = true,
                                          .workspace_bytes = workspace_bytes,
                                          .encode = encode,
                                          .decode_add = decode_add}};

}  // namespace
}  // namespace syncline

// Chunk-wise top-k on a GPU. A block takes a chunk: it keeps u = g + e in registers, finds the k-th
// largest key by three digits in shared memory, and lists what is sent in order; so the tensor is
// read once, and all that follows works on the list.
#include "kernels/compressors/chunk-topk.h"
#include "kernels/gpu/device.cuh"

namespace syncline {
namespace {

constexpr unsigned chunk_threads = 512;
constexpr unsigned chunk_rows = 4096 / chunk_threads;  // of the largest chunk
constexpr unsigned chunk_warps = chunk_threads / 32;

// The lists of all chunks, in a workspace.
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

// The k-th largest, as far as its digits are known: what it is, and how many of those that agree
// with it so far are among the k largest.
struct Cut {
  std::uint32_t key;
  unsigned rank;
};

// One more digit: the highest whose suffix sum reaches the rank. For all threads of the block; a
// thread has `own` digits in a row.
template <unsigned own>
__device__ void take_digit(const unsigned* counts, unsigned shift, unsigned* of_warps, Cut* cut) {
  const unsigned lane = lane_of_warp(), warp = threadIdx.x / 32;
  unsigned mine = 0;
  for (unsigned i = 0; i < own; ++i)
    mine += counts[threadIdx.x * own + i];
  unsigned from_here = mine;  // to the end of the warp
  for (unsigned step = 1; step < 32; step *= 2) {
    const unsigned more = __shfl_sync(all_lanes, from_here, (lane + step) % 32);
    from_here += lane + step < 32 ? more : 0;
  }
  if (lane == 0)
    of_warps[warp] = from_here;
  const Cut before = *cut;
  __syncthreads();
  unsigned above = from_here - mine;
  for (unsigned w = warp + 1; w < chunk_warps; ++w)
    above += of_warps[w];
  for (unsigned i = own; i-- > 0;) {
    const unsigned here = counts[threadIdx.x * own + i];
    if (above < before.rank && above + here >= before.rank)
      *cut = {before.key | (threadIdx.x * own + i) << shift, before.rank - above};
    above += here;
  }
  __syncthreads();
}

// Counts the digit of those that agree with what is known of the cut, then takes it.
template <unsigned digits>
__device__ void find_digit(const float (&values)[chunk_rows], std::size_t count, unsigned known,
                           unsigned shift, unsigned* counts, unsigned* of_warps, Cut* cut) {
  for (unsigned digit = threadIdx.x; digit < digits; digit += chunk_threads)
    counts[digit] = 0;
  __syncthreads();
  const std::uint32_t above = cut->key;
#pragma unroll
  for (unsigned row = 0; row < chunk_rows; ++row) {
    const std::uint32_t key = magnitude_key(values[row]);
    if (row * chunk_threads + threadIdx.x < count &&
        (known == 31 || key >> known == above >> known))
      atomicAdd(&counts[(key >> shift) % digits], 1u);
  }
  __syncthreads();
  take_digit<digits / chunk_threads>(counts, shift, of_warps, cut);
}

// Above the cut in the high half, equal to it in the low one: a chunk has less than 2^16 of either.
__device__ inline unsigned both(unsigned above, unsigned equal) {
  return above << 16 | equal;
}

// Makes of a count per row and warp the sum of those before it. For one warp.
__device__ void begin_after(unsigned* counts) {
  constexpr unsigned own = chunk_rows * chunk_warps / 32;
  const unsigned lane = lane_of_warp();
  unsigned mine = 0;
  for (unsigned i = 0; i < own; ++i)
    mine += counts[lane * own + i];
  unsigned until_here = mine;
  for (unsigned step = 1; step < 32; step *= 2) {
    const unsigned more = __shfl_sync(all_lanes, until_here, (lane + 32 - step) % 32);
    until_here += lane >= step ? more : 0;
  }
  unsigned before = until_here - mine;
  for (unsigned i = 0; i < own; ++i) {
    const unsigned here = counts[lane * own + i];
    counts[lane * own + i] = before;
    before += here;
  }
}

// Lists the chunk's largest in the order of their places; `counts` has room for a number per row
// and warp.
__device__ void list_chunk(const float (&values)[chunk_rows], std::size_t count, const Cut& cut,
                           unsigned* counts, std::uint32_t* places, std::uint32_t* bits) {
  const unsigned lane = lane_of_warp(), warp = threadIdx.x / 32, lower = lanes_below();
  unsigned above[chunk_rows], equal[chunk_rows];
#pragma unroll
  for (unsigned row = 0; row < chunk_rows; ++row) {
    const std::uint32_t key = magnitude_key(values[row]);
    const bool inside = row * chunk_threads + threadIdx.x < count;
    above[row] = __ballot_sync(all_lanes, inside && key > cut.key);
    equal[row] = __ballot_sync(all_lanes, inside && key == cut.key);
    if (lane == 0)
      counts[row * chunk_warps + warp] = both(__popc(above[row]), __popc(equal[row]));
  }
  __syncthreads();
  if (warp == 0)
    begin_after(counts);
  __syncthreads();
#pragma unroll
  for (unsigned row = 0; row < chunk_rows; ++row) {
    const unsigned here = counts[row * chunk_warps + warp] +
                          both(__popc(above[row] & lower), __popc(equal[row] & lower));
    const unsigned ties = here & 0xffffu;
    const bool taken =
        (above[row] >> lane & 1u) != 0 || ((equal[row] >> lane & 1u) != 0 && ties < cut.rank);
    if (taken) {
      const std::size_t at = (here >> 16) + (ties < cut.rank ? ties : cut.rank);
      places[at] = row * chunk_threads + threadIdx.x;
      bits[at] = __float_as_uint(values[row]);
    }
  }
  __syncthreads();
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

// Without feedback u is null. What is sent stays in u for now.
template <class Value>
__global__ void __launch_bounds__(chunk_threads, 2)
    select_kernel(const Value* g, float* u, Chunks chunks, float decay, ChunkRoom room) {
  __shared__ unsigned counts[bins];
  __shared__ unsigned of_warps[chunk_warps];
  __shared__ Cut cut;
  const std::size_t c = blockIdx.x, begin = c * chunks.chunk;
  const std::size_t count = chunks.elements_of(c), k = chunks.sent_of(c);
  float values[chunk_rows], rest[chunk_rows];
#pragma unroll
  for (unsigned row = 0; row < chunk_rows; ++row) {
    const std::size_t i = row * chunk_threads + threadIdx.x;
    values[row] = i < count ? loaded(g, begin + i) : 0.0f;
  }
#pragma unroll
  for (unsigned row = 0; row < chunk_rows; ++row) {
    const std::size_t i = row * chunk_threads + threadIdx.x;
    rest[row] = u != nullptr && i < count ? u[begin + i] : 0.0f;
  }
#pragma unroll
  for (unsigned row = 0; row < chunk_rows; ++row) {
    const std::size_t i = row * chunk_threads + threadIdx.x;
    values[row] = u != nullptr ? values[row] + rest[row] : values[row];
    if (u != nullptr && i < count)
      u[begin + i] = kept_of(values[row], 0, decay);
  }
  if (k == 0)
    return;
  if (threadIdx.x == 0)
    cut = {0, static_cast<unsigned>(k)};
  find_digit<2048>(values, count, 31, 20, counts, of_warps, &cut);
  find_digit<1024>(values, count, 20, 10, counts, of_warps, &cut);
  find_digit<1024>(values, count, 10, 0, counts, of_warps, &cut);
  const std::size_t first = c * chunks.per_chunk;
  list_chunk(values, count, cut, counts, room.places + first, room.bits + first);
  if (threadIdx.x >= 32)
    return;
  const LevelSums sums = list_sums(room.bits + first, k, no_key);
  if (threadIdx.x == 0)
    room.sums[c] = sums;
}

// For one block of 256 threads.
__global__ void __launch_bounds__(256) high_key_kernel(Chunks chunks, ChunkRoom room) {
  const LevelSums all = total_in_order(room.sums, chunks.sent() > 0 ? chunks.count() : 0);
  if (threadIdx.x == 0)
    *room.high_key = high_key_of(all);
}

__global__ void levels_kernel(Chunks chunks, ChunkRoom room) {
  const std::size_t c = grid_warp();
  if (c >= chunks.count())
    return;
  const LevelSums sums =
      list_sums(room.bits + c * chunks.per_chunk, chunks.sent_of(c), *room.high_key);
  if (lane_of_warp() == 0)
    room.sums[c] = sums;
}

__global__ void __launch_bounds__(256) scale_kernel(Chunks chunks, ChunkRoom room, float* message) {
  const LevelSums all = total_in_order(room.sums, chunks.sent() > 0 ? chunks.count() : 0);
  if (threadIdx.x != 0)
    return;
  message[0] = canonical(mean_of(all.low, all.lows));
  message[1] = canonical(mean_of(all.high, all.highs));
}

// A thread writes eight numbers of either kind, which fill whole bytes, and takes off u what they
// send.
__global__ void write_kernel(float* u, Chunks chunks, float decay, ChunkRoom room,
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

__global__ void add_kernel(Chunks chunks, const std::byte* message, float* sum) {
  const std::size_t j = grid_thread();
  if (j >= chunks.sent())
    return;
  const float* levels = reinterpret_cast<const float*>(message);
  const std::uint32_t place = get_number(message + chunks.indices_begin(), j, chunks.index_bits);
  sum[j / chunks.per_chunk * chunks.chunk + place] += from_level_code(
      get_number(message + chunks.codes_begin(), j, level_bits), levels[0], levels[1]);
}

void encode(const Settings& settings, const DeviceInput& input, const Draw&,
            const DeviceOutput& output, void* workspace, void* stream) {
  const Chunks chunks = chunks_of(settings, input.elements);
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

void decode_add(const Settings& settings, const std::byte* message, std::size_t, const Draw&,
                float* sum, std::size_t elements, void*, void* stream) {
  const Chunks chunks = chunks_of(settings, elements);
  launch_each(chunks.sent(), add_kernel, stream, chunks, message, sum);
}

std::size_t workspace_bytes(const Settings& settings, std::size_t elements) {
  const Chunks chunks = chunks_of(settings, elements);
  return chunks.count() * sizeof(LevelSums) + (1 + 2 * chunks.sent()) * sizeof(std::uint32_t);
}

const Registered<DeviceCompressor> entry{{.name = "chunk-topk",
                                          .halves = true,
                                          .workspace_bytes = workspace_bytes,
                                          .encode = encode,
                                          .decode_add = decode_add}};

}  // namespace
}  // namespace syncline

// Selection chunk by chunk on a GPU. A block takes a chunk and keeps it in registers: row r of
// thread t is element r * chunk_threads + t of the chunk.
#pragma once

#include "kernels/arithmetic/chunks.h"
#include "kernels/gpu/device.cuh"

namespace syncline {

inline constexpr unsigned chunk_threads = block_threads;
inline constexpr unsigned most_chunk_elements = 4096;
inline constexpr unsigned chunk_rows = most_chunk_elements / chunk_threads;

// Loads a chunk of u = g + e, or of g if u is null; zeros after its end.
template <class Value>
__device__ void load_chunk(const Value* g, const float* u, std::size_t begin, unsigned count,
                           float (&values)[chunk_rows]) {
  float rest[chunk_rows];
  load_rows<chunk_threads>(g + begin, threadIdx.x, count, values);
  if (u == nullptr)
    return;
  load_rows<chunk_threads>(u + begin, threadIdx.x, count, rest);
#pragma unroll
  for (unsigned row = 0; row < chunk_rows; ++row)
    values[row] = values[row] + rest[row];
}

// The k-th largest key of a chunk, as far as its digits are known, and how many of the keys that
// agree with those digits are among the k largest.
struct ChunkCut {
  std::uint32_t key;
  unsigned rank;
};

// Chooses one more digit: the highest whose suffix sum reaches the rank. For all threads of the
// block; each takes `own` neighbouring digits.
template <unsigned own>
__device__ void take_digit(const unsigned* counts, unsigned shift, unsigned (&of_warps)[warps],
                           ChunkCut* cut) {
  unsigned mine = 0;
  for (unsigned i = 0; i < own; ++i)
    mine += counts[threadIdx.x * own + i];
  const ChunkCut before = *cut;
  unsigned above = sum_after(mine, of_warps);
  for (unsigned i = own; i-- > 0;) {
    const unsigned here = counts[threadIdx.x * own + i];
    if (above < before.rank && above + here >= before.rank)
      *cut = {before.key | (threadIdx.x * own + i) << shift, before.rank - above};
    above += here;
  }
  __syncthreads();
}

// Counts the next digit of the keys that agree with the known digits of the cut, then chooses it.
template <unsigned digits>
__device__ void find_digit(const float (&values)[chunk_rows], unsigned count, unsigned known,
                           unsigned shift, unsigned* counts, unsigned (&of_warps)[warps],
                           ChunkCut* cut) {
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

// Two counts in one word: above the cut in the high half, equal to it in the low half. A chunk has
// fewer than 2^16 of either.
__device__ inline unsigned both(unsigned above, unsigned equal) {
  return above << 16 | equal;
}

// Replaces counts per row and warp by the sums of those before them. For one warp.
__device__ inline void begin_after(unsigned* counts) {
  constexpr unsigned own = chunk_rows * warps / 32;
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

// Lists the chunk's largest in the order of their places; `counts` has room for one number per row
// and warp.
__device__ inline void list_chunk(const float (&values)[chunk_rows], unsigned count,
                                  const ChunkCut& cut, unsigned* counts, std::uint32_t* places,
                                  std::uint32_t* bits) {
  const unsigned lane = lane_of_warp(), warp = threadIdx.x / 32, lower = lanes_below();
  unsigned above[chunk_rows], equal[chunk_rows];
#pragma unroll
  for (unsigned row = 0; row < chunk_rows; ++row) {
    const std::uint32_t key = magnitude_key(values[row]);
    const bool inside = row * chunk_threads + threadIdx.x < count;
    above[row] = __ballot_sync(all_lanes, inside && key > cut.key);
    equal[row] = __ballot_sync(all_lanes, inside && key == cut.key);
    if (lane == 0)
      counts[row * warps + warp] = both(__popc(above[row]), __popc(equal[row]));
  }
  __syncthreads();
  if (warp == 0)
    begin_after(counts);
  __syncthreads();
#pragma unroll
  for (unsigned row = 0; row < chunk_rows; ++row) {
    const unsigned here =
        counts[row * warps + warp] + both(__popc(above[row] & lower), __popc(equal[row] & lower));
    const unsigned ties = here & 0xffffu;
    const bool taken =
        (above[row] >> lane & 1u) != 0 || ((equal[row] >> lane & 1u) != 0 && ties < cut.rank);
    if (taken) {
      const unsigned at = (here >> 16) + (ties < cut.rank ? ties : cut.rank);
      places[at] = row * chunk_threads + threadIdx.x;
      bits[at] = __float_as_uint(values[row]);
    }
  }
  __syncthreads();
}

// Lists the k > 0 largest, ties by smallest place: three digits find the k-th. On return all
// threads of the block may read the list.
__device__ inline void select_chunk(const float (&values)[chunk_rows], unsigned count, unsigned k,
                                    std::uint32_t* places, std::uint32_t* bits) {
  __shared__ unsigned counts[bins];
  __shared__ unsigned of_warps[warps];
  __shared__ ChunkCut cut;
  if (threadIdx.x == 0)
    cut = {0, k};
  find_digit<2048>(values, count, 31, 20, counts, of_warps, &cut);
  find_digit<1024>(values, count, 20, 10, counts, of_warps, &cut);
  find_digit<1024>(values, count, 10, 0, counts, of_warps, &cut);
  list_chunk(values, count, cut, counts, places, bits);
}

}  // namespace syncline

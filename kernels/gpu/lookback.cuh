// Stable compaction in one pass by decoupled look-back (Merrill and Garland, "Single-pass Parallel
// Prefix Scan with Decoupled Look-back", NVIDIA NVR-2016-002). A ticket hands out tiles, and a
// block takes its tiles in order. A block only waits for tiles before one that it has published,
// and its unpublished tiles come after that one: the block with the first unpublished tile waits
// for none, so waiting cannot deadlock. Each tile publishes its own count, then the count of all
// tiles up to it.
#pragma once

#include "kernels/gpu/selection.cuh"

namespace syncline {

// A status word: two bits of state, then two counts of 31 bits (plain selections use one of them).
inline constexpr unsigned long long own_count = 1ull << 62, whole_count = 2ull << 62;
inline constexpr unsigned long long count_bits = (1ull << 62) - 1;

__device__ inline unsigned long long published(unsigned long long* status) {
  return *reinterpret_cast<volatile unsigned long long*>(status);
}

// Publishes this tile's own count; look_back publishes the count of all tiles up to it.
__device__ inline void publish(unsigned long long* status, std::uint32_t tile,
                               unsigned long long mine) {
  atomicExch(&status[tile], (tile == 0 ? whole_count : own_count) | mine);
}

// For one warp: the sum of the counts of all tiles before this one, whose own count `mine` is
// already published. A GPU has some 500 tiles under way, and reading 32 of them at a time took one
// trip to the L2 for each 32: so a lane reads four at once.
__device__ inline unsigned long long look_back(unsigned long long* status, std::uint32_t tile,
                                               unsigned long long mine) {
  constexpr unsigned asked = 4;
  const unsigned lane = lane_of_warp();
  unsigned long long before = 0;
  bool done = tile == 0;
  for (std::int64_t last = static_cast<std::int64_t>(tile) - 1; !done; last -= 32 * asked) {
    unsigned long long words[asked];
    bool missing = true;
    while (missing) {
      missing = false;
#pragma unroll
      for (unsigned k = 0; k < asked; ++k) {
        const std::int64_t at = last - 32 * k - lane;
        words[k] = at >= 0 ? published(&status[at]) : whole_count;  // nothing before the first tile
        missing = missing || words[k] < own_count;
      }
    }
#pragma unroll
    for (unsigned k = 0; k < asked; ++k) {
      const unsigned known = __ballot_sync(all_lanes, words[k] >= whole_count);
      const unsigned first = known != 0 ? __ffs(static_cast<int>(known)) - 1 : 31;
      before += !done && lane <= first ? words[k] & count_bits : 0;
      done = done || known != 0;
    }
  }
  before = warp_sum(before);
  if (lane == 0 && tile > 0)
    atomicExch(&status[tile], whole_count | (before + mine));
  return before;
}

// What the threads of one tile share during compaction.
struct TileCounts {
  std::uint32_t tile;
  unsigned long long warp[warps];
  unsigned long long before;
};

// The block's first tile.
__device__ inline std::uint32_t first_tile(unsigned* ticket, TileCounts& shared) {
  if (threadIdx.x == 0)
    shared.tile = atomicAdd(ticket, 1u);
  __syncthreads();
  return shared.tile;
}

// From the counts of this tile's warps: where each warp's output starts, the end of the tile's
// output, and the block's next tile, which is requested before waiting for other tiles.
struct Place {
  unsigned long long begin, end;  // of this warp's first element, and of the whole tile
  std::uint32_t next;
};

__device__ inline Place place_of(unsigned* ticket, unsigned long long* status, TileCounts& shared,
                                 std::uint32_t tile, unsigned long long warp_count) {
  const unsigned warp = threadIdx.x / 32, lane = lane_of_warp();
  std::uint32_t next = 0;
  if (threadIdx.x == 0)
    next = atomicAdd(ticket, 1u);
  if (lane == 0)
    shared.warp[warp] = warp_count;
  __syncthreads();
  unsigned long long earlier = 0, total = 0;
  for (unsigned w = 0; w < warps; ++w) {
    earlier += w < warp ? shared.warp[w] : 0;
    total += shared.warp[w];
  }
  if (warp == 0) {
    if (lane == 0)
      publish(status, tile, total);
    const unsigned long long before = look_back(status, tile, total);
    if (lane == 0) {
      shared.before = before;
      shared.tile = next;
    }
  }
  __syncthreads();
  return {shared.before + earlier, shared.before + total, shared.tile};
}

// Prepares a look-back: no tile has published, and the first tile is next.
__device__ inline void clear_look_back(const SelectionRoom& room) {
  unsigned long long* const words = reinterpret_cast<unsigned long long*>(room.ticket);
  for (std::size_t i = grid_thread(); i < room.look_back_bytes / 8; i += grid_threads())
    words[i] = 0;
}

__device__ inline void clear_counts(const SelectionRoom& room) {
  for (std::size_t i = grid_thread(); i < counts_bytes / 4; i += grid_threads())
    room.histogram[i] = 0;
}

// Writes an element as number `place` of the message, with a value of type Value, and subtracts it
// from u.
template <class Value>
__device__ void send(float* u, std::uint32_t index, std::uint32_t bits, std::size_t place,
                     const DeviceOutput& output, std::size_t elements) {
  float value = __uint_as_float(bits);
  reinterpret_cast<std::uint32_t*>(output.message)[place] = index;
  send_value<Value>(value, output.message + 4 * elements, place);
  u[index] = value;
}

}  // namespace syncline

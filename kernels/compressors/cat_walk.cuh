// CAT's walk on a GPU, with the bits of the CPU: the order of additions decides where it stops, so
// one thread walks, and its block loads the magnitudes.
#pragma once

#include "kernels/compressors/cat.h"
#include "kernels/gpu/selection.cuh"

namespace syncline::cat {

struct Answer {          // zero before the walk begins
  std::uint64_t best;    // T
  double best_sum;       // of the T largest magnitudes
  double unit;           // of the stochastic rule
  std::uint64_t sorted;  // number of sorted keys; later keys all equal `rest`
  std::uint32_t rest;
  std::uint32_t finished;
};

struct Room {
  Answer* answer = nullptr;
  SelectionRoom selection = {};
  std::uint32_t* keys = nullptr;
  std::uint32_t* other = nullptr;  // the destination of a sort pass
  unsigned* table = nullptr;       // digits x tiles
};

inline constexpr unsigned walk_threads = 256, walk_keys = 2048;

__device__ inline std::uint32_t key_at(const Room& room, std::size_t i) {
  return i < room.answer->sorted ? room.keys[i] : room.answer->rest;
}

// Sends every key above that of rank T, and of the keys equal to it the first few, up to T in all.
__device__ inline void set_cut(const Room& room, std::size_t best) {
  Selection& selection = *room.selection.selection;
  const std::uint32_t cut = key_at(room, best - 1);
  const std::size_t above =
      first_after(best - 1, [&](std::size_t rank) { return key_at(room, rank) > cut; });
  selection.low_key = cut;
  selection.band_key = cut;
  selection.above_key = cut + 1;
  selection.skip = 0;
  selection.rank = best - above;
}

// One block. Walks over the `top` largest magnitudes.
static __global__ void __launch_bounds__(walk_threads)
    walk_kernel(Terms terms, std::size_t top, std::size_t elements, Room room) {
  __shared__ std::uint32_t chunk[walk_keys];
  __shared__ bool over;
  if (room.answer->finished != 0)
    return;
  Walk walk(terms, room.selection.selection->moments.absolute, elements);
  const auto magnitude_at = [&](std::size_t i) -> double {
    return __uint_as_float(key_at(room, i));
  };
  for (std::size_t begin = 0; begin < top; begin += walk_keys) {
    for (unsigned i = threadIdx.x; i < walk_keys && begin + i < top; i += blockDim.x)
      chunk[i] = key_at(room, begin + i);
    __syncthreads();
    if (threadIdx.x == 0) {
      for (unsigned i = 0; i < walk_keys && begin + i < top && !walk.finished; ++i)
        walk.next(__uint_as_float(chunk[i]), magnitude_at);
      over = walk.finished;
    }
    __syncthreads();
    if (over)
      break;
  }
  if (threadIdx.x != 0 || !walk.finished)
    return;
  room.answer->best = walk.best;
  room.answer->best_sum = walk.best_sum;
  room.answer->unit = walk.best_unit;
  room.answer->finished = 1;
  set_cut(room, walk.best);
}

}  // namespace syncline::cat

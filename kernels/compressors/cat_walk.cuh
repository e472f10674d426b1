// CAT's walk on a GPU, to the bit: CatWalk of cat.h is a chain of additions in double, and their
// order decides where it stops, so one thread walks; a block brings it the magnitudes.
#pragma once

#include <cmath>
#include <cuda_runtime.h>

#include "kernels/gpu/device.cuh"
#include "kernels/gpu/device.h"

namespace syncline::cat {

enum class Rule { sparsify, sign, stochastic };
enum class Cost { payload, affine, packet };

struct Terms {  // CatRule and CatCost of cat.h, without their words
  Rule rule;
  Cost cost;
  double packet_cost, packet_bits, fixed_cost, element_bits, message_bits;
  std::size_t step;
};

struct Walk {            // zero before it begins
  std::uint64_t best;    // T
  double best_sum;       // of the T largest magnitudes
  double unit;           // of the stochastic rule
  std::uint64_t sorted;  // keys that are sorted; those after them are all `rest`
  std::uint32_t rest;
  std::uint32_t finished;
};

struct Room {
  Walk* walk = nullptr;
  SelectionRoom selection = {};
  std::uint32_t* keys = nullptr;
  std::uint32_t* other = nullptr;  // where a pass of the sort puts them
  unsigned* table = nullptr;       // digits x tiles
};

inline constexpr unsigned walk_threads = 256, walk_keys = 2048;

__device__ inline std::uint32_t key_at(const Room& room, std::size_t i) {
  return i < room.walk->sorted ? room.keys[i] : room.walk->rest;
}

// CatWalk of cat.h, for the thread that walks.
struct Walker {
  Terms terms;
  double absolute;  // of the whole tensor
  std::size_t elements;
  std::size_t count = 0, best = 0, saturated = 0;
  double sum = 0, squares = 0, certain_sum = 0, certain_squares = 0;
  double best_ratio = 0, best_sum = 0, best_unit = 0;
  bool finished = false;

  __device__ void next(const Room& room, std::uint32_t key) {
    const double magnitude = __uint_as_float(key);
    ++count;
    sum += magnitude;
    squares += magnitude * magnitude;
    if (count % terms.step == 0 || count == elements)
      judge(room);
    finished = finished || count == elements;
  }

  __device__ void judge(const Room& room) {
    const double wanted = static_cast<double>(count);
    double unit = 0;
    const double ratio =
        improvement(room, wanted, unit) / cost_of(wanted * terms.element_bits + terms.message_bits);
    if (!(ratio > best_ratio) && best > 0) {
      finished = true;
      return;
    }
    best_ratio = ratio;
    best = count;
    best_sum = sum;
    best_unit = unit;
  }

  __device__ double cost_of(double payload_bits) const {
    if (terms.cost == Cost::payload)
      return payload_bits;
    const double packets = payload_bits / terms.packet_bits;
    return terms.packet_cost * (terms.cost == Cost::packet ? ceil(packets) : packets) +
           terms.fixed_cost;
  }

  __device__ double tail() const {
    const double rest = absolute - certain_sum;
    return rest < 0.0 ? 0.0 : rest;
  }

  __device__ double improvement(const Room& room, double wanted, double& unit) {
    if (terms.rule == Rule::sparsify)
      return squares;
    if (terms.rule == Rule::sign)
      return sum * sum / wanted;
    while (saturated < count) {
      const double magnitude = __uint_as_float(key_at(room, saturated));
      if (!((wanted - static_cast<double>(saturated)) * magnitude >= tail()))
        break;
      certain_sum += magnitude;
      certain_squares += magnitude * magnitude;
      ++saturated;
    }
    const double shared = wanted - static_cast<double>(saturated);
    unit = shared > 0 ? tail() / shared : 0;
    const double spread = certain_squares + (shared > 0 ? tail() * tail() / shared : 0);
    return spread > 0 ? 1 / spread : 0;
  }
};

// The key of rank T and how many that equal it are sent: all of the list that reach the one after
// it are, and the first few of the band.
__device__ inline void set_cut(const Room& room, std::size_t best) {
  Selection& selection = *room.selection.selection;
  const std::uint32_t cut = key_at(room, best - 1);
  std::size_t low = 0, high = best - 1;  // the first that is not above the cut
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (key_at(room, middle) > cut)
      low = middle + 1;
    else
      high = middle;
  }
  selection.low_key = cut;
  selection.band_key = cut;
  selection.above_key = cut + 1;
  selection.skip = 0;
  selection.rank = best - low;
}

// One block. Walks over the `top` largest magnitudes.
static __global__ void __launch_bounds__(walk_threads)
    walk_kernel(Terms terms, std::size_t top, std::size_t elements, Room room) {
  __shared__ std::uint32_t chunk[walk_keys];
  __shared__ bool over;
  if (room.walk->finished != 0)
    return;
  Walker walker{terms, room.selection.selection->moments.absolute, elements};
  for (std::size_t begin = 0; begin < top; begin += walk_keys) {
    for (unsigned i = threadIdx.x; i < walk_keys && begin + i < top; i += blockDim.x)
      chunk[i] = key_at(room, begin + i);
    __syncthreads();
    if (threadIdx.x == 0) {
      for (unsigned i = 0; i < walk_keys && begin + i < top && !walker.finished; ++i)
        walker.next(room, chunk[i]);
      over = walker.finished;
    }
    __syncthreads();
    if (over)
      break;
  }
  if (threadIdx.x != 0 || !walker.finished)
    return;
  room.walk->best = walker.best;
  room.walk->best_sum = walker.best_sum;
  room.walk->unit = walker.best_unit;
  room.walk->finished = 1;
  set_cut(room, walker.best);
}

}  // namespace syncline::cat

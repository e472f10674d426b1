// Helpers of the CUDA kernels, written without CUB and Thrust headers, which take eight seconds to
// compile in every file.
#pragma once

#include <cuda_runtime.h>
#include <type_traits>

#include "kernels/arithmetic/feedback.h"
#include "kernels/arithmetic/keys.h"
#include "kernels/arithmetic/moments.h"
#include "kernels/gpu/device.h"
#include "kernels/philox.h"

namespace syncline {

inline constexpr unsigned block_threads = 512;
inline constexpr unsigned warps = block_threads / 32;
inline constexpr unsigned rows = tile_elements / block_threads;  // per warp and tile
inline constexpr unsigned all_lanes = 0xffffffffu;

// Rows of 32 elements that a warp loads at once when it walks along a tile or a bucket. All are
// loaded before any is stored: no compiler moves a load ahead of a store that may alias it, and one
// row at a time in flight leaves half of a GPU's memory bandwidth idle. Eight rows also share a
// Philox call.
inline constexpr unsigned batch = 8;

// Throws std::runtime_error with the call and CUDA's message.
void check_cuda(int error, const char* what);

inline cudaStream_t stream_of(void* stream) {
  return static_cast<cudaStream_t>(stream);
}

// Enqueues one kernel. A function instead of <<<...>>>, so that a C++ compiler can also read every
// .cu file: tests/kernels/emulator runs them without a GPU.
template <class... Parameters>
void launch(void (*kernel)(Parameters...), dim3 grid, unsigned threads, void* stream,
            std::type_identity_t<Parameters>... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.stream = stream_of(stream);
  cudaLaunchKernelEx(&config, kernel, arguments...);
}

// Numbers of blocks: of 256 threads, one per element; of 128 threads, one warp per task (a tile, a
// row); and as many as keep the device busy, whose threads continue with further elements.
inline unsigned blocks_of(std::size_t elements) {
  return static_cast<unsigned>((elements + 255) / 256);
}
inline unsigned blocks_of_warps(std::size_t tasks) {
  return static_cast<unsigned>((tasks + 3) / 4);
}
unsigned persistent_blocks();

// Decodes messages one after the other, by work(message, its bytes).
template <class Work>
void for_each_message(const DeviceMessages& messages, const Work& work) {
  for (unsigned m = 0; m < messages.count; ++m)
    work(messages.at[m], messages.bytes[m]);
}

// Enqueues a kernel with a thread per element; does nothing for 0 elements.
template <class... Parameters>
void launch_each(std::size_t elements, void (*kernel)(Parameters...), void* stream,
                 std::type_identity_t<Parameters>... arguments) {
  if (elements > 0)
    launch(kernel, blocks_of(elements), 256, stream, arguments...);
}

// This thread's number in the grid, the grid's number of threads, and this warp's number.
__device__ inline std::size_t grid_thread() {
  return blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
}
__device__ inline std::size_t grid_threads() {
  return std::size_t{gridDim.x} * blockDim.x;
}
__device__ inline std::size_t grid_warp() {
  return blockIdx.x * std::size_t{blockDim.x / 32} + threadIdx.x / 32;
}
__device__ inline unsigned lane_of_warp() {
  return threadIdx.x % 32;
}

// A bit for every lane before this one.
__device__ inline unsigned lanes_below() {
  return (1u << lane_of_warp()) - 1;
}

// The elements of a tile that one warp takes; lane l takes those at l, l + 32, ...: the order of
// order.h.
struct WarpTile {
  std::size_t begin, end;  // begin >= end: no such tile
};
__device__ inline WarpTile warp_tile(std::size_t tile, std::size_t elements) {
  const std::size_t begin = tile * tile_elements;
  return {begin, begin + tile_elements < elements ? begin + tile_elements : elements};
}

// Where this lane begins in a tile that a block shares: every warp has `rows` consecutive rows of
// it.
__device__ inline std::size_t first_in_tile(std::size_t tile) {
  return tile * tile_elements + threadIdx.x / 32 * 32 * rows + lane_of_warp();
}

// The sum over the lanes, in every lane. For integers, whose order does not matter.
template <class Count>
__device__ Count warp_sum(Count mine) {
  for (unsigned step = 16; step > 0; step /= 2)
    mine += __shfl_xor_sync(all_lanes, mine, step);
  return mine;
}

// The largest of the lanes, in every lane.
__device__ inline std::uint32_t warp_top(std::uint32_t mine) {
  for (unsigned step = 16; step > 0; step /= 2) {
    const std::uint32_t other = __shfl_xor_sync(all_lanes, mine, step);
    mine = mine > other ? mine : other;
  }
  return mine;
}

// The sum of `mine` over all threads after this one, in a block of block_threads.
template <class Count>
__device__ Count sum_after(Count mine, Count (&of_warps)[warps]) {
  const unsigned lane = lane_of_warp(), warp = threadIdx.x / 32;
  Count from_here = mine;  // to the end of the warp
  for (unsigned step = 1; step < 32; step *= 2) {
    const Count more = __shfl_sync(all_lanes, from_here, (lane + step) % 32);
    from_here += lane + step < 32 ? more : 0;
  }
  if (lane == 0)
    of_warps[warp] = from_here;
  __syncthreads();
  Count after = from_here - mine;
  for (unsigned w = warp + 1; w < warps; ++w)
    after += of_warps[w];
  return after;
}

// Adds a count per lane to a counter that all warps share.
__device__ inline void add_counts(unsigned long long* counter, unsigned long long mine) {
  mine = warp_sum(mine);
  if (lane_of_warp() == 0 && mine != 0)
    atomicAdd(counter, mine);
}

// total + part(0) + ... + part(31) in this order, as in order.h. `part` fetches the share of a
// lane.
template <class Sums, class Part>
__device__ Sums ordered_sums(Sums total, const Part& part) {
#pragma unroll 4
  for (unsigned lane = 0; lane < 32; ++lane)
    total = total + part(lane);
  return total;
}

// The sum of one number per lane, in lane order, in double.
template <class Value>
__device__ double ordered_sum(Value mine) {
  double total = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    total += __shfl_sync(all_lanes, mine, lane);
  return total;
}

// Makes all NaNs the same, as put_value does.
__device__ inline float canonical(float value) {
  return value == value ? value : __int_as_float(0x7fc00000);
}

// Read an element of the gradient: kernels that do are templates of its type, float or Half.
__device__ inline float loaded(const float* g, std::size_t i) {
  return g[i];
}
__device__ inline float loaded(const Half* g, std::size_t i) {
  return to_float(g[i]);
}

// Loads the elements that lie `step` apart from element `first` on; those past the end are 0.
template <unsigned step, class Value, unsigned count>
__device__ void load_rows(const Value* from, std::size_t first, std::size_t end,
                          float (&values)[count]) {
#pragma unroll
  for (unsigned row = 0; row < count; ++row)
    values[row] = first + row * step < end ? loaded(from, first + row * step) : 0.0f;
}

// The number of elements left in a batch, from this lane's first on: row r of this lane exists if
// 32 r is below it.
__device__ inline unsigned left_of(std::size_t first, std::size_t end) {
  return first >= end               ? 0
         : end - first < 32 * batch ? static_cast<unsigned>(end - first)
                                    : 32 * batch;
}

// Loads a batch of u = g + e, or u = g, from element `first`; elements past the end are 0.
template <class Value>
__device__ inline void load_sums(const Value* g, const float* e, std::size_t first, unsigned left,
                                 bool feedback, float (&sums)[batch]) {
  float rest[batch];
  load_rows<32>(g + first, 0, left, sums);
  if (!feedback)
    return;
  load_rows<32>(e + first, 0, left, rest);
#pragma unroll
  for (unsigned row = 0; row < batch; ++row)
    sums[row] = sums[row] + rest[row];
}

// Reads four neighbours at once, 16 bytes in fp32. An H100's memory is busy when each
// multiprocessor has requested some 32 KiB; with 4 bytes for each of its 2,048 threads, it requests
// 8. (Tensors and messages begin at multiples of 16 bytes: device.h.)
__device__ inline float4 four_of(const float* values, std::size_t first) {
  return *reinterpret_cast<const float4*>(values + first);
}
__device__ inline float4 four_of(const Half* values, std::size_t first) {
  const uint2 four = *reinterpret_cast<const uint2*>(values + first);
  const auto half = [](unsigned bits) { return to_float(Half{static_cast<std::uint16_t>(bits)}); };
  return {half(four.x), half(four.x >> 16), half(four.y), half(four.y >> 16)};
}

// The number of threads for a kernel with one thread per four elements.
inline std::size_t fours_of(std::size_t elements) {
  return (elements + 3) / 4;
}

// Up to four elements of a sum while messages are added to them. They are read here, so that they
// and what is added are fetched at the same time, and written once.
struct FourOfSum {
  float* at;
  unsigned present;
  float4 four = {};

  __device__ FourOfSum(float* sum, std::size_t first, std::size_t elements)
      : at(sum + first),
        present(elements - first < 4 ? static_cast<unsigned>(elements - first) : 4) {
    if (present == 4)
      four = four_of(at, 0);
  }
  // Adds added(0) to added(3).
  template <class Added>
  __device__ void add(const Added& added) {
    if (present == 4)
      four = {four.x + added(0), four.y + added(1), four.z + added(2), four.w + added(3)};
    else
      for (unsigned k = 0; k < present; ++k)
        at[k] += added(k);
  }
  __device__ void store() const {
    if (present == 4)
      *reinterpret_cast<float4*>(at) = four;
  }
};

// Adds messages that have a value for every element; each thread takes four elements.
// Reader(message, arguments...) is called for four values at once, from element `first` on; its
// result is called for value k of them. (Four such groups per thread, whose loads then wait for one
// another, took 2.7 times as long on an H100.)
template <class Reader, bool several, class... Arguments>
__global__ void add_dense_kernel(DeviceMessages messages, float* sum, std::size_t elements,
                                 Arguments... arguments) {
  const std::size_t first = 4 * grid_thread();
  if (first >= elements)
    return;
  FourOfSum four(sum, first, elements);
  const auto add = [&](unsigned m) {
    four.add(Reader(messages.at[m], arguments...)(first, four.present == 4));
  };
  if constexpr (several) {
#pragma unroll 4
    for (unsigned m = 0; m < messages.count; ++m)
      add(m);
  } else {
    add(0);
  }
  four.store();
}

template <class Reader, class... Arguments>
void add_dense(const DeviceMessages& messages, float* sum, std::size_t elements, void* stream,
               const Arguments&... arguments) {
  launch_each(fours_of(elements),
              messages.count > 1 ? add_dense_kernel<Reader, true, Arguments...>
                                 : add_dense_kernel<Reader, false, Arguments...>,
              stream, messages, sum, elements, arguments...);
}

// Calls work(word) for each word of this thread, when all threads of the grid share the words: in
// unspecified order, 64 bytes per request.
template <class Work>
__device__ void for_each_word(const void* words, std::size_t count, const Work& work) {
  constexpr unsigned vectors = 4;
  const uint4* const fours = static_cast<const uint4*>(words);
  const std::size_t whole = count / 4, step = grid_threads();
  for (std::size_t first = grid_thread(); first < whole; first += vectors * step) {
    uint4 taken[vectors] = {};
#pragma unroll
    for (unsigned v = 0; v < vectors; ++v)
      if (first + v * step < whole)
        taken[v] = fours[first + v * step];
#pragma unroll
    for (unsigned v = 0; v < vectors; ++v)
      if (first + v * step < whole) {
        work(taken[v].x);
        work(taken[v].y);
        work(taken[v].z);
        work(taken[v].w);
      }
  }
  if (const std::size_t last = 4 * whole + grid_thread(); last < count)
    work(static_cast<const std::uint32_t*>(words)[last]);
}

// Calls `work` with a pointer to the gradient, in its own type.
template <class Work>
void with_gradient(const DeviceInput& input, const Work& work) {
  if (input.halves != nullptr)
    work(input.halves);
  else
    work(input.gradient);
}

// Writes u as value number `place` of the message, in type Value, and replaces it by what is left,
// like put_value and sent_off.
template <class Value>
__device__ void send_value(float& u, void* values, std::size_t place) {
  constexpr bool halves = std::is_same_v<Value, Half>;
  if constexpr (halves)
    static_cast<Half*>(values)[place] = to_half(u);
  else
    static_cast<float*>(values)[place] = canonical(u);
  u = sent_off(u, halves ? Precision::fp16 : Precision::fp32);
}

// First step of adding tiles in the order of moments.h: one block per group, which leaves its sum
// in place of its first tile's. (One block for everything would read 1.3 MB at 2^28 elements
// through one multiprocessor, which takes as long as a tenth of the pass over the elements.)
template <class Sums>
__global__ void __launch_bounds__(group_tiles) group_kernel(Sums* tiles, std::size_t count) {
  __shared__ Sums group[group_tiles];
  const std::size_t first = blockIdx.x * group_tiles;
  const unsigned present =
      static_cast<unsigned>(count - first < group_tiles ? count - first : group_tiles);
  if (threadIdx.x < present)
    group[threadIdx.x] = tiles[first + threadIdx.x];
  __syncthreads();
  if (threadIdx.x != 0)
    return;
  Sums total{};
#pragma unroll 8
  for (unsigned t = 0; t < present; ++t)
    total = total + group[t];
  tiles[first] = total;
}

template <class Sums>
void add_groups(Sums* tiles, std::size_t count, void* stream) {
  if (count > 0)
    launch(group_kernel<Sums>, static_cast<unsigned>((count + group_tiles - 1) / group_tiles),
           group_tiles, stream, tiles, count);
}

// Second step: adds the groups one by one. For one block of 256 threads; the first one has the
// result.
template <class Sums>
__device__ Sums total_in_order(const Sums* tiles, std::size_t count) {
  __shared__ Sums groups[256];
  Sums total{};
  for (std::size_t begin = 0; begin < count; begin += 256 * group_tiles) {
    const std::size_t mine = begin + threadIdx.x * group_tiles;
    if (mine < count)
      groups[threadIdx.x] = tiles[mine];
    __syncthreads();
    for (unsigned i = 0; threadIdx.x == 0 && i < 256 && begin + i * group_tiles < count; ++i)
      total = total + groups[i];
    __syncthreads();
  }
  return total;
}

}  // namespace syncline

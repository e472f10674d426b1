// Pieces that the CUDA kernels share. Hand-written, without CUB or Thrust headers: those cost eight
// seconds of compilation in every file.
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

// Rows of 32 elements that a warp asks for at once, where it walks along a tile or a bucket. All
// are loaded before any is stored: no compiler moves a load ahead of a store to what may be the
// same place, and with one row at a time in flight a GPU's memory is half idle. Eight rows share a
// Philox call, too.
inline constexpr unsigned batch = 8;

// Throws std::runtime_error that names the call and what CUDA said.
void check_cuda(int error, const char* what);

inline cudaStream_t stream_of(void* stream) {
  return static_cast<cudaStream_t>(stream);
}

// Enqueues one kernel. A function and not <<<...>>>, so that a C++ compiler can read every .cu file
// too: tests/kernels/emulator runs them without a GPU.
template <class... Parameters>
void launch(void (*kernel)(Parameters...), dim3 grid, unsigned threads, void* stream,
            std::type_identity_t<Parameters>... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.stream = stream_of(stream);
  cudaLaunchKernelEx(&config, kernel, arguments...);
}

// Blocks of 256 threads, one per element; of 128 threads, one warp per tile, row or whatever else;
// and as many blocks as keep the device busy, whose threads go on to further elements.
inline unsigned blocks_of(std::size_t elements) {
  return static_cast<unsigned>((elements + 255) / 256);
}
inline unsigned blocks_of_warps(std::size_t tasks) {
  return static_cast<unsigned>((tasks + 3) / 4);
}
unsigned persistent_blocks();

// Enqueues the decoding of one message after the other, by work(message, its bytes).
template <class Work>
void for_each_message(const DeviceMessages& messages, const Work& work) {
  for (unsigned m = 0; m < messages.count; ++m)
    work(messages.at[m], messages.bytes[m]);
}

// Enqueues a kernel with a thread per element; nothing where there are none.
template <class... Parameters>
void launch_each(std::size_t elements, void (*kernel)(Parameters...), void* stream,
                 std::type_identity_t<Parameters>... arguments) {
  if (elements > 0)
    launch(kernel, blocks_of(elements), 256, stream, arguments...);
}

// This thread's number in the grid, how many threads that has, and its warp's number.
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

// The elements of a tile that one warp takes, lane l those at l, l + 32, ...: the order of order.h.
struct WarpTile {
  std::size_t begin, end;  // begin >= end: there is no such tile
};
__device__ inline WarpTile warp_tile(std::size_t tile, std::size_t elements) {
  const std::size_t begin = tile * tile_elements;
  return {begin, begin + tile_elements < elements ? begin + tile_elements : elements};
}

// This lane begins there in a tile that a block takes together: every warp has `rows` rows of it,
// one after the other.
__device__ inline std::size_t first_in_tile(std::size_t tile) {
  return tile * tile_elements + threadIdx.x / 32 * 32 * rows + lane_of_warp();
}

// The sum of a number per lane, in every lane. For whole numbers: they do not mind the order.
template <class Count>
__device__ Count warp_sum(Count mine) {
  for (unsigned step = 16; step > 0; step /= 2)
    mine += __shfl_xor_sync(all_lanes, mine, step);
  return mine;
}

// Adds a count per lane to a counter that all warps share.
__device__ inline void add_counts(unsigned long long* counter, unsigned long long mine) {
  mine = warp_sum(mine);
  if (lane_of_warp() == 0 && mine != 0)
    atomicAdd(counter, mine);
}

// total + part(0) + ... + part(31) in this order, as order.h has it. `part` asks a lane for its
// share.
template <class Sums, class Part>
__device__ Sums ordered_sums(Sums total, const Part& part) {
#pragma unroll 4
  for (unsigned lane = 0; lane < 32; ++lane)
    total = total + part(lane);
  return total;
}

// This one sums one number per lane, in double.
template <class Value>
__device__ double ordered_sum(Value mine) {
  double total = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    total += __shfl_sync(all_lanes, mine, lane);
  return total;
}

// One NaN, as put_value has it.
__device__ inline float canonical(float value) {
  return value == value ? value : __int_as_float(0x7fc00000);
}

// Kernels that read the gradient are templates of its element: float or Half.
__device__ inline float loaded(const float* g, std::size_t i) {
  return g[i];
}
__device__ inline float loaded(const Half* g, std::size_t i) {
  return to_float(g[i]);
}

// A batch has so many elements from here on: row r of this lane is there if 32 r is below that.
__device__ inline unsigned left_of(std::size_t first, std::size_t end) {
  return first >= end               ? 0
         : end - first < 32 * batch ? static_cast<unsigned>(end - first)
                                    : 32 * batch;
}

// A batch of u = g + e, or u = g, from element `first`; what is past the end is 0.
template <class Value>
__device__ inline void load_sums(const Value* g, const float* e, std::size_t first, unsigned left,
                                 bool feedback, float (&sums)[batch]) {
  float rest[batch];
#pragma unroll
  for (unsigned row = 0; row < batch; ++row)
    sums[row] = row * 32 < left ? loaded(g + first, row * 32) : 0.0f;
  if (!feedback)
    return;
#pragma unroll
  for (unsigned row = 0; row < batch; ++row)
    rest[row] = row * 32 < left ? e[first + row * 32] : 0.0f;
#pragma unroll
  for (unsigned row = 0; row < batch; ++row)
    sums[row] = sums[row] + rest[row];
}

// Four neighbours at once, 16 bytes where they are fp32. An H100's memory is busy when each
// multiprocessor has asked for some 32 KiB; its 2,048 threads, each for 4 bytes, ask for 8.
// (Tensors and messages begin at multiples of 16 bytes: device.h.)
__device__ inline float4 four_of(const float* values, std::size_t first) {
  return *reinterpret_cast<const float4*>(values + first);
}
__device__ inline float4 four_of(const Half* values, std::size_t first) {
  const uint2 four = *reinterpret_cast<const uint2*>(values + first);
  const auto half = [](unsigned bits) { return to_float(Half{static_cast<std::uint16_t>(bits)}); };
  return {half(four.x), half(four.x >> 16), half(four.y), half(four.y >> 16)};
}

// Where a kernel has a thread for every four elements.
inline std::size_t fours_of(std::size_t elements) {
  return (elements + 3) / 4;
}

// Four elements of a sum, or as many as there are, while messages are added to them: read here, so
// that they and what is added are fetched at the same time, and written once.
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

// Adds messages that have something for every element, four of which are a thread's. `reader` makes
// of a message what is asked for four values at once, from this element on; and the answer to that
// is asked for value k of them. (Four fours for a thread, whose loads then wait for one another,
// took 2.7 times as long on an H100.)
template <bool several, class Reader>
__device__ void add_dense(const DeviceMessages& messages, float* sum, std::size_t elements,
                          const Reader& reader) {
  const std::size_t first = 4 * grid_thread();
  if (first >= elements)
    return;
  FourOfSum four(sum, first, elements);
  const auto add = [&](unsigned m) { four.add(reader(messages.at[m])(first, four.present == 4)); };
  if constexpr (several) {
#pragma unroll 4
    for (unsigned m = 0; m < messages.count; ++m)
      add(m);
  } else {
    add(0);
  }
  four.store();
}

// Enqueues such a kernel, of one message or of several.
template <class... Parameters>
void launch_dense(const DeviceMessages& messages, void (*one)(DeviceMessages, Parameters...),
                  void (*several)(DeviceMessages, Parameters...), std::size_t elements,
                  void* stream, std::type_identity_t<Parameters>... arguments) {
  launch_each(fours_of(elements), messages.count > 1 ? several : one, stream, messages,
              arguments...);
}

// Calls work(word) for each word that is this thread's, where all threads of a grid share them: in
// no order that means anything, 64 bytes asked for at once.
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

// Calls `work` with the gradient's pointer.
template <class Work>
void with_gradient(const DeviceInput& input, const Work& work) {
  if (input.halves != nullptr)
    work(input.halves);
  else
    work(input.gradient);
}

// Writes a value as number `place` of the message's values, of type Value, and takes it off: the
// same as put_value and sent_off.
template <class Value>
__device__ void send_value(float& u, void* values, std::size_t place) {
  constexpr bool halves = std::is_same_v<Value, Half>;
  if constexpr (halves)
    static_cast<Half*>(values)[place] = to_half(u);
  else
    static_cast<float*>(values)[place] = canonical(u);
  u = sent_off(u, halves ? Precision::fp16 : Precision::fp32);
}

// The first step of the sums of tiles in the order of moments.h: a block per group, which leaves
// its sum where its first tile's was. (One block for all would read 1.3 MB at 2^28 elements through
// one multiprocessor, which takes as long as a tenth of the pass over the elements.)
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

// The second step, the groups one by one. For one block of 256 threads; the first one has the
// answer.
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

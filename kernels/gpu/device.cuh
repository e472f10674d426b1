// Pieces that the CUDA kernels share. Hand-written, without CUB or Thrust headers: those cost eight
// seconds of compilation each (kernels.md 6.2).
#pragma once

#include <cstdint>
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

// Blocks of 256 threads, one per element.
inline unsigned blocks_of(std::size_t elements) {
  return static_cast<unsigned>((elements + 255) / 256);
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

// How many elements a batch has from here on: row r of this lane is there if 32 r is below that.
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
__device__ void send_value(float& u, void* values, std::size_t place);

template <>
__device__ inline void send_value<float>(float& u, void* values, std::size_t place) {
  static_cast<float*>(values)[place] = canonical(u);
  u = sent_off(u, Precision::fp32);
}

template <>
__device__ inline void send_value<Half>(float& u, void* values, std::size_t place) {
  static_cast<Half*>(values)[place] = to_half(u);
  u = sent_off(u, Precision::fp16);
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

// Blocks that keep the device busy with persistent kernels.
unsigned persistent_blocks();

// Device memory that a chain of selections works in. All counts stay there.
struct Selection {
  std::uint32_t low_key;    // everything collected reaches it
  std::uint32_t cut_key;    // the k-th largest key, digit by digit
  std::uint32_t fallback;   // 1: the sample misled, collect again
  std::uint32_t ticket;     // the next tile of a look-back pass
  std::uint64_t rank;       // what is left of k inside the digits chosen so far
  std::uint64_t listed;     // collected
  std::uint32_t above_key;  // all of the list that reach it are sent
  std::uint32_t band_key;   // and, from here to there, `rank` in a row after the first `skip`
  std::uint64_t skip;
  std::uint64_t listed_sent;  // what is sent of the list
  std::uint64_t selected;     // sent
  Moments moments;
  double threshold;
  unsigned long long counts[8];
};

// Where the parts of a selection's workspace lie.
struct SelectionRoom {
  Selection* selection = nullptr;
  std::uint32_t* list = nullptr;         // indices collected, ascending
  std::uint32_t* bits = nullptr;         // and the values there: gathering them costs a sector each
  unsigned long long* status = nullptr;  // of the tiles of a look-back pass
  unsigned* histogram = nullptr;         // 2048 counts, zero between uses
  std::uint32_t* sample = nullptr;       // keys
  std::size_t samples = 0;               // how many
  Moments* tiles = nullptr;              // one per tile
};

inline constexpr std::size_t sample_strata = std::size_t{1} << 13, sample_neighbours = 8;
inline constexpr std::size_t sample_keys = sample_strata * sample_neighbours;

std::size_t selection_bytes(std::size_t elements);
SelectionRoom selection_room(void* workspace, std::size_t elements);

// u = g + e for the tensor, and the list of what reaches selection->low_key, in one pass.
void add_and_collect(const DeviceInput& input, bool feedback, const SelectionRoom& room,
                     void* stream);
// Only the list, of what is in the residual; with `only_fallback`, only if the flag is up.
void collect(const DeviceInput& input, bool only_fallback, const SelectionRoom& room, void* stream);
// Everything collected from now on reaches `key`.
void set_low_key(const SelectionRoom& room, std::uint32_t key, void* stream);
// low_key from a sample of g + e, or 0 for small tensors.
void sample_low_key(const DeviceInput& input, bool feedback, std::size_t k, const Draw& draw,
                    const SelectionRoom& room, void* stream);
// If fewer than k were collected: low_key from a histogram of everything, and collect again.
void ensure_collected(const DeviceInput& input, std::size_t k, const SelectionRoom& room,
                      void* stream);
// cut_key: the key of rank k of the sample (which becomes low_key), or of the list; rank: how many
// that equal it.
void cut_sample(const DeviceInput& input, std::size_t k, const SelectionRoom& room, void* stream);
void cut_list(const DeviceInput& input, std::size_t k, const SelectionRoom& room, void* stream);
// Writes what selection->above_key, band_key, skip and rank say of the list, and takes it off.
void write_band(const DeviceInput& input, const SelectionRoom& room, const DeviceOutput& output,
                std::size_t message_room, void* stream);
// Writes the k largest of the list, ties by smallest index, and takes them off the residual.
void write_largest(const DeviceInput& input, std::size_t k, const SelectionRoom& room,
                   const DeviceOutput& output, std::size_t message_room, void* stream);
// Tells the host how many were sent: what was listed, or `most` of it.
void count_selected(const SelectionRoom& room, const DeviceOutput& output, std::size_t most,
                    void* stream);
// Writes the whole list.
void write_list(const DeviceInput& input, const SelectionRoom& room, const DeviceOutput& output,
                std::size_t message_room, void* stream);
// u = g + e and its moments, into selection->moments. Without a residual: only the moments of g.
void add_and_sum(const DeviceInput& input, bool feedback, const SelectionRoom& room, void* stream);
// The same, and the histogram of the magnitudes, in one pass.
void add_sum_and_count(const DeviceInput& input, bool feedback, const SelectionRoom& room,
                       void* stream);
// low_key: the lower edge of the histogram's bin that holds rank k; uses the histogram up.
void take_bin_of(std::size_t k, const SelectionRoom& room, void* stream);

void decode_sparse_on_device(const Settings&, const std::byte* message, std::size_t bytes,
                             const Draw&, float* sum, std::size_t elements, void* workspace,
                             void* stream);
void decode_sparse_halves_on_device(const Settings&, const std::byte* message, std::size_t bytes,
                                    const Draw&, float* sum, std::size_t elements, void* workspace,
                                    void* stream);

// Indices and values, each half of it: a sparse message cannot hold more than every element.
inline std::size_t sparse_room(const Settings&, std::size_t elements) {
  return 8 * elements;
}

inline std::vector<MessagePart> sparse_parts(const Settings&, std::size_t elements,
                                             Precision precision, std::uint64_t selected) {
  return {{0, 4 * selected}, {4 * elements, value_bytes(precision) * selected}};
}

}  // namespace syncline

// Adds sparse messages on a GPU: one, or several at once with the bits of one after the other.
#include "kernels/gpu/selection.cuh"
#include "kernels/gpu/selection_traffic.h"

namespace syncline {
namespace {

// The pairs of a message; indices ascend.
template <class Value>
struct Pairs {
  const std::uint32_t* indices;
  unsigned count;

  __device__ Pairs(const DeviceMessages& messages, unsigned m)
      : indices(reinterpret_cast<const std::uint32_t*>(messages.at[m])),
        count(static_cast<unsigned>(messages.bytes[m] / (4 + sizeof(Value)))) {}
  __device__ float value(unsigned i) const {
    return loaded(reinterpret_cast<const Value*>(indices + count), i);
  }
  __device__ void add(unsigned i, float* sum) const { sum[indices[i]] += value(i); }
  // The first pair whose index is `element` or above.
  __device__ unsigned from(std::size_t element) const {
    return first_after(count, [&](unsigned i) { return indices[i] < element; });
  }
};

// Indices of one message are distinct, so no atomics are needed.
template <class Value>
__global__ void scatter_kernel(DeviceMessages messages, float* sum) {
  const Pairs<Value> pairs(messages, 0);
  if (const std::size_t i = grid_thread(); i < pairs.count)
    pairs.add(static_cast<unsigned>(i), sum);
}

// Each warp adds what lies in its part of the sum, message after message: no warp waits for
// another, and each element gets the messages in order.
template <class Value>
__global__ void __launch_bounds__(128) scatter_all_kernel(DeviceMessages messages, std::size_t part,
                                                          std::size_t elements, float* sum) {
  constexpr unsigned of_lane = most_messages_at_once / 32;
  const std::size_t begin = grid_warp() * part;
  if (begin >= elements)
    return;
  unsigned begins[of_lane] = {}, ends[of_lane] = {};  // for the messages this lane looks up
#pragma unroll
  for (unsigned k = 0; k < of_lane; ++k)
    if (const unsigned m = k * 32 + lane_of_warp(); m < messages.count) {
      const Pairs<Value> pairs(messages, m);
      begins[k] = pairs.from(begin);
      ends[k] = pairs.from(begin + part);
    }
#pragma unroll
  for (unsigned k = 0; k < of_lane; ++k)
    for (unsigned m = k * 32; m < messages.count && m < k * 32 + 32; ++m) {
      const Pairs<Value> pairs(messages, m);
      const unsigned first = __shfl_sync(all_lanes, begins[k], m % 32),
                     end = __shfl_sync(all_lanes, ends[k], m % 32);
      for (unsigned i = first + lane_of_warp(); i < end; i += 32)
        pairs.add(i, sum);
      __syncwarp();
    }
}

// For messages with an element in most sectors of the sum: a block walks along tiles of the sum,
// keeps each in shared memory while it adds every message there, and remembers its place in each
// message.
constexpr unsigned sweep_threads = 256;

// One thread's pair of a message.
template <class Value>
struct Fetched {
  unsigned pair;
  bool there;
  std::uint32_t index = 0;
  float value = 0;

  __device__ Fetched(const Pairs<Value>& pairs, unsigned first)
      : pair(first + threadIdx.x), there(pair < pairs.count) {
    if (there) {
      index = pairs.indices[pair];
      value = pairs.value(pair);
    }
  }
};

template <class Value>
__global__ void __launch_bounds__(sweep_threads)
    sweep_kernel(DeviceMessages messages, std::size_t elements_of_block, std::size_t elements,
                 float* sum) {
  __shared__ float kept[tile_elements];
  __shared__ unsigned next[most_messages_at_once];  // next pair of each message
  const std::size_t first = blockIdx.x * elements_of_block;
  const std::size_t end =
      first + elements_of_block < elements ? first + elements_of_block : elements;
  if (threadIdx.x < messages.count)
    next[threadIdx.x] = Pairs<Value>(messages, threadIdx.x).from(first);
  __syncthreads();
  for (std::size_t begin = first; begin < end; begin += tile_elements) {
    const unsigned count =
        static_cast<unsigned>(end - begin < tile_elements ? end - begin : tile_elements);
    Fetched<Value> ahead(Pairs<Value>(messages, 0), next[0]);
    for (unsigned i = threadIdx.x; i < count; i += sweep_threads)
      kept[i] = sum[begin + i];
    __syncthreads();
    for (unsigned m = 0; m < messages.count; ++m) {
      const Pairs<Value> pairs(messages, m);
      Fetched<Value> now = ahead;
      if (m + 1 < messages.count)
        ahead = Fetched<Value>(Pairs<Value>(messages, m + 1), next[m + 1]);
      for (unsigned taken = sweep_threads; taken == sweep_threads;) {
        const bool mine = now.there && now.index - begin < count;
        if (mine)
          kept[now.index - begin] += now.value;
        taken = static_cast<unsigned>(__syncthreads_count(mine));
        if (threadIdx.x == 0)
          next[m] = now.pair + taken;
        if (taken == sweep_threads)
          now = Fetched<Value>(pairs, now.pair - threadIdx.x + sweep_threads);
      }
    }
    for (unsigned i = threadIdx.x; i < count; i += sweep_threads)
      sum[begin + i] = kept[i];
  }
}

}  // namespace

template <class Value>
void decode_sparse(const Settings&, const DeviceMessages& messages, const Draw&, float* sum,
                   std::size_t elements, void*, void* stream) {
  std::size_t longest = 0;
  for_each_message(messages, [&](const std::byte*, std::size_t bytes) {
    longest = std::max(longest, bytes / (4 + sizeof(Value)));
  });
  if (longest == 0)
    return;
  if (messages.count == 1) {
    launch_each(longest, scatter_kernel<Value>, stream, messages, sum);
  } else if (sweeps(messages.count * longest, elements)) {
    const std::size_t tiles = tiles_of(elements);
    const std::size_t of_block = tiles_of_block(tiles, 3 * persistent_blocks());
    launch(sweep_kernel<Value>, static_cast<unsigned>((tiles + of_block - 1) / of_block),
           sweep_threads, stream, messages, of_block * tile_elements, elements, sum);
  } else {
    const std::size_t parts = (longest + 63) / 64;  // parts with some 64 pairs of each message
    const std::size_t part = (elements + parts - 1) / parts;
    launch(scatter_all_kernel<Value>, blocks_of_warps((elements + part - 1) / part), 128, stream,
           messages, part, elements, sum);
  }
}

template void decode_sparse<float>(const Settings&, const DeviceMessages&, const Draw&, float*,
                                   std::size_t, void*, void*);
template void decode_sparse<Half>(const Settings&, const DeviceMessages&, const Draw&, float*,
                                  std::size_t, void*, void*);

}  // namespace syncline

// SIDCo on a GPU: every stage is sums over what reached the last threshold, and one thread's fit.
// The first stage's sums are those of the pass that adds the residual. How many stages there are is
// known to the device alone, so all that there can be are enqueued, and the rest return at once.
#include <cstring>
#include <cuda_runtime.h>

#include "kernels/arithmetic/feedback.h"
#include "kernels/compressors/sidco.h"
#include "kernels/gpu/device.cuh"
#include "kernels/gpu/device.h"

namespace syncline {
namespace {

struct Chain {  // what all its kernels need
  Sidco sidco;
  SelectionRoom room;
  SidcoMemory* memory;
};

__device__ int stages_of(const Chain& chain) {
  return chain.sidco.single ? 1 : chain.memory->stages;
}

__device__ bool has_stage(const Chain& chain, int stage) {
  return stage < stages_of(chain) && chain.room.selection->low_key != no_key;
}

// One warp per tile; lane l adds elements l, l + 32, ...: the order of moments.h.
__global__ void exceedance_kernel(const float* u, std::size_t elements, Chain chain, int stage) {
  if (!has_stage(chain, stage))
    return;
  const unsigned lane = threadIdx.x % 32;
  const std::size_t tile = blockIdx.x * std::size_t{blockDim.x / 32} + threadIdx.x / 32;
  const std::size_t begin = tile * tile_elements;
  if (begin >= elements)
    return;
  const std::size_t end = begin + tile_elements < elements ? begin + tile_elements : elements;
  const std::uint32_t from = chain.room.selection->low_key;
  float absolute = 0, squares = 0;
  std::uint32_t count = 0, nearness = 0;
#pragma unroll 8
  for (std::size_t i = begin + lane; i < end; i += 32) {
    const float value = u[i];
    const std::uint32_t key = magnitude_key(value);
    const bool reached = key >= from;
    absolute += reached ? absolute_value(value) : 0.0f;
    squares += reached ? value * value : 0.0f;
    count += reached ? 1u : 0u;
    const std::uint32_t distance = reached ? no_key - key : 0u;
    nearness = nearness > distance ? nearness : distance;
  }
  Exceedances total{};
  for (unsigned lane_from = 0; lane_from < 32; ++lane_from)
    total = total + Exceedances{static_cast<double>(__shfl_sync(all_lanes, count, lane_from)),
                                __shfl_sync(all_lanes, absolute, lane_from),
                                __shfl_sync(all_lanes, squares, lane_from),
                                __shfl_sync(all_lanes, nearness, lane_from)};
  if (lane == 0)
    reinterpret_cast<Exceedances*>(chain.room.tiles)[tile] = total;
}

__global__ void __launch_bounds__(256) stage_kernel(std::size_t tiles, Chain chain, int stage) {
  if (!has_stage(chain, stage))  // low_key changes below, after every thread has looked
    return;
  const Exceedances total =
      total_in_order(reinterpret_cast<const Exceedances*>(chain.room.tiles), tiles);
  if (threadIdx.x == 0)
    chain.room.selection->low_key = stage_key(chain.sidco, stage, stages_of(chain), total, 0);
}

__global__ void logarithm_kernel(const float* u, std::size_t elements, Chain chain) {
  const unsigned lane = threadIdx.x % 32;
  const std::size_t tile = blockIdx.x * std::size_t{blockDim.x / 32} + threadIdx.x / 32;
  const std::size_t begin = tile * tile_elements;
  if (begin >= elements)
    return;
  const std::size_t end = begin + tile_elements < elements ? begin + tile_elements : elements;
  const Moments& moments = chain.room.selection->moments;
  const double mean = moments.absolute / moments.count;
  double sum = 0, total = 0;
  for (std::size_t i = begin + lane; i < end; i += 32)
    sum += fit_logarithm(u[i], mean);
  for (unsigned from = 0; from < 32; ++from)
    total += __shfl_sync(all_lanes, sum, from);
  if (lane == 0)
    reinterpret_cast<double*>(chain.room.tiles)[tile] = total;
}

__global__ void __launch_bounds__(256) first_stage_kernel(std::size_t tiles, Chain chain) {
  const double logs = chain.sidco.fit == Fit::gamma
                          ? total_in_order(reinterpret_cast<const double*>(chain.room.tiles), tiles)
                          : 0.0;
  if (threadIdx.x != 0)
    return;
  const Moments& m = chain.room.selection->moments;
  chain.room.selection->low_key =
      stage_key(chain.sidco, 0, stages_of(chain), {m.count, m.absolute, m.squares, 0}, logs);
}

__global__ void adapt_kernel(Chain chain, std::size_t k) {
  *chain.memory = adapted(chain.sidco, *chain.memory, chain.room.selection->selected, k);
}

void set_threshold(const DeviceInput& input, const Chain& chain, void* stream) {
  const std::size_t tiles = tiles_of(input.elements);
  const unsigned blocks = static_cast<unsigned>((tiles + 3) / 4);
  if (chain.sidco.fit == Fit::gamma) {
    launch(logarithm_kernel, blocks, 128, stream, input.residual, input.elements, chain);
    add_groups(reinterpret_cast<double*>(chain.room.tiles), tiles, stream);
  }
  launch(first_stage_kernel, 1, 256, stream, tiles, chain);
  const int most = std::max(chain.sidco.first_stages, chain.sidco.most_stages);
  for (int stage = 1; stage < (chain.sidco.single ? 1 : most); ++stage) {
    launch(exceedance_kernel, blocks, 128, stream, input.residual, input.elements, chain, stage);
    add_groups(reinterpret_cast<Exceedances*>(chain.room.tiles), tiles, stream);
    launch(stage_kernel, 1, 256, stream, tiles, chain, stage);
  }
}

void encode(const Settings& settings, const DeviceInput& input, const Draw&,
            const DeviceOutput& output, void* workspace, void* stream) {
  const std::size_t n = input.elements, k = wanted(settings.number("density"), n);
  const Chain chain{sidco_of(settings), selection_room(workspace, n),
                    reinterpret_cast<SidcoMemory*>(input.memory)};
  add_and_sum(input, with_feedback(settings), chain.room, stream);
  if (k > 0)
    set_threshold(input, chain, stream);
  else
    set_low_key(chain.room, no_key, stream);
  collect(input, false, chain.room, stream);
  write_list(input, chain.room, output, sparse_room(settings, n), stream);
  if (k > 0)
    launch(adapt_kernel, 1, 1, stream, chain, k);
}

Message memory(const Settings& settings, std::size_t, const Draw&, const State& state) {
  const SidcoMemory memory{state.stages > 0 ? state.stages : sidco_of(settings).first_stages,
                           state.encodings, state.kept_share};
  Message bytes(sizeof memory);
  std::memcpy(bytes.data(), &memory, sizeof memory);
  return bytes;
}

void remember(const Message& bytes, State& state) {
  SidcoMemory memory;
  std::memcpy(&memory, bytes.data(), sizeof memory);
  state.stages = memory.stages;
  state.encodings = memory.encodings;
  state.kept_share = memory.kept_share;
}

std::size_t workspace_bytes(const Settings&, std::size_t elements) {
  return selection_bytes(elements);
}

const Registered<DeviceCompressor> entry{{.name = "sidco",
                                          .halves = true,
                                          .message_room = sparse_room,
                                          .parts = sparse_parts,
                                          .workspace_bytes = workspace_bytes,
                                          .memory = memory,
                                          .remember = remember,
                                          .encode = encode,
                                          .decode_add = decode_sparse_on_device,
                                          .decode_add_halves = decode_sparse_halves_on_device}};

}  // namespace
}  // namespace syncline

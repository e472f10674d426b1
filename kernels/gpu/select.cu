// Passes over the tensor on a GPU: add, and list what reaches a key.
#include <cuda_runtime.h>

#include "kernels/gpu/device.h"
#include "kernels/gpu/lookback.cuh"
#include "kernels/gpu/selection.cuh"

namespace syncline {
namespace {

// One pass: u = g + e (unless g is null), and the indices and values of what reaches the low key,
// in order. A tile is all loaded before any of it is stored: no compiler moves a load ahead of a
// store to what may be the same place, and with one row at a time in flight a GPU's memory is half
// idle.
template <class Value>
__global__ void __launch_bounds__(block_threads, 2)
    collect_kernel(const Value* g, float* u, std::size_t elements, bool feedback,
                   bool only_fallback, SelectionRoom room) {
  __shared__ TileCounts shared;
  if (only_fallback && room.selection->fallback == 0)
    return;
  const unsigned lane = lane_of_warp();
  const std::uint32_t low_key = room.selection->low_key;
  const std::uint32_t tiles = static_cast<std::uint32_t>(tiles_of(elements));
  const bool from_u = g == nullptr || feedback;
  for (std::uint32_t tile = next_tile(room.selection, shared); tile < tiles;
       tile = next_tile(room.selection, shared)) {
    const std::size_t first = first_in_tile(tile);
    float values[rows], left[rows];
#pragma unroll
    for (unsigned row = 0; row < rows; ++row) {
      const std::size_t i = first + row * 32;
      values[row] = g != nullptr && i < elements ? loaded(g, i) : 0.0f;
    }
#pragma unroll
    for (unsigned row = 0; row < rows; ++row) {
      const std::size_t i = first + row * 32;
      left[row] = from_u && i < elements ? u[i] : 0.0f;
    }
    unsigned ballots[rows];
    unsigned found = 0;
#pragma unroll
    for (unsigned row = 0; row < rows; ++row) {
      const std::size_t i = first + row * 32;
      const float value = g == nullptr ? left[row]
                          : feedback   ? values[row] + left[row]
                                       : values[row];
      values[row] = value;
      if (g != nullptr && i < elements)
        u[i] = value;
      ballots[row] = __ballot_sync(all_lanes, i < elements && magnitude_key(value) >= low_key);
      found += __popc(ballots[row]);
    }
    const Place place = place_of(room.status, shared, found);
    std::size_t next = place.begin;
#pragma unroll
    for (unsigned row = 0; row < rows; ++row) {
      if ((ballots[row] >> lane & 1u) != 0) {
        const std::size_t at = next + __popc(ballots[row] & lanes_below());
        room.list[at] = static_cast<std::uint32_t>(first + row * 32);
        room.bits[at] = __float_as_uint(values[row]);
      }
      next += __popc(ballots[row]);
    }
    if (tile == tiles - 1 && threadIdx.x == 0)
      room.selection->listed = place.end;
  }
}

template <class Value>
void launch_collect(const Value* g, const DeviceInput& input, bool feedback, bool only_fallback,
                    const SelectionRoom& room, void* stream) {
  const std::size_t tiles = tiles_of(input.elements);
  if (tiles == 0)  // no tile will say so
    cudaMemsetAsync(&room.selection->listed, 0, sizeof room.selection->listed, stream_of(stream));
  begin_look_back(room, tiles, stream);
  launch(collect_kernel<Value>, persistent_blocks(), block_threads, stream, g, input.residual,
         input.elements, feedback, only_fallback, room);
}

__global__ void low_key_kernel(Selection* selection, std::uint32_t key) {
  selection->low_key = key;
}

__global__ void count_kernel(Selection* selection, DeviceOutput output, std::uint64_t most) {
  selection->selected = selection->listed < most ? selection->listed : most;
  *output.selected = selection->selected;
}

template <class Value>
__global__ void send_list_kernel(float* u, SelectionRoom room, DeviceOutput output,
                                 std::size_t message_room) {
  for (std::size_t i = grid_thread(); i < room.selection->listed; i += grid_threads())
    send<Value>(u, room, i, i, output, message_room);
}

template <class Value>
__global__ void scatter_kernel(const std::byte* message, std::size_t count, float* sum) {
  const std::size_t i = grid_thread();
  if (i < count)  // indices are distinct, so no atomics
    sum[reinterpret_cast<const std::uint32_t*>(message)[i]] +=
        loaded(reinterpret_cast<const Value*>(message + 4 * count), i);
}

template <class Value>
void decode_sparse(const Settings&, const std::byte* message, std::size_t bytes, const Draw&,
                   float* sum, std::size_t, void*, void* stream) {
  const std::size_t count = bytes / (4 + sizeof(Value));
  if (count > 0)
    launch(scatter_kernel<Value>, blocks_of(count), 256, stream, message, count, sum);
}

}  // namespace

std::size_t selection_bytes(std::size_t elements) {
  return 1024 + 4 * bins + 4 * sample_keys + 8 * (elements + 2) +
         tiles_of(elements) * (8 + sizeof(Moments)) + 64;
}

SelectionRoom selection_room(void* workspace, std::size_t elements) {
  static_assert(sizeof(Selection) <= 1024);
  char* at = static_cast<char*>(workspace);
  SelectionRoom room;
  room.selection = reinterpret_cast<Selection*>(at);
  room.tiles = reinterpret_cast<Moments*>(at += 1024);
  room.status = reinterpret_cast<unsigned long long*>(at += tiles_of(elements) * sizeof(Moments));
  room.histogram = reinterpret_cast<unsigned*>(at += tiles_of(elements) * 8);
  room.sample = reinterpret_cast<std::uint32_t*>(at += 4 * bins);
  room.samples = sample_keys;
  room.list = reinterpret_cast<std::uint32_t*>(at + 4 * sample_keys);
  room.bits = room.list + elements;
  return room;
}

void add_and_collect(const DeviceInput& input, bool feedback, const SelectionRoom& room,
                     void* stream) {
  with_gradient(input,
                [&](const auto* g) { launch_collect(g, input, feedback, false, room, stream); });
}

void collect(const DeviceInput& input, bool only_fallback, const SelectionRoom& room,
             void* stream) {
  launch_collect<float>(nullptr, input, true, only_fallback, room, stream);
}

void set_low_key(const SelectionRoom& room, std::uint32_t key, void* stream) {
  launch(low_key_kernel, 1, 1, stream, room.selection, key);
}

void count_selected(const SelectionRoom& room, const DeviceOutput& output, std::size_t most,
                    void* stream) {
  launch(count_kernel, 1, 1, stream, room.selection, output, most);
}

void write_list(const DeviceInput& input, const SelectionRoom& room, const DeviceOutput& output,
                std::size_t message_room, void* stream) {
  const auto kernel = input.halves != nullptr ? send_list_kernel<Half> : send_list_kernel<float>;
  launch(kernel, persistent_blocks(), block_threads, stream, input.residual, room, output,
         message_room);
  count_selected(room, output, input.elements, stream);
}

DeviceCompressor sparsifier_on_device(const std::string& name,
                                      decltype(DeviceCompressor::encode) encode) {
  return {.name = name,
          .halves = true,
          .message_room = sparse_room,
          .parts = sparse_parts,
          .workspace_bytes = [](const Settings&, std::size_t n) { return selection_bytes(n); },
          .encode = std::move(encode),
          .decode_add = decode_sparse<float>,
          .decode_add_halves = decode_sparse<Half>};
}

}  // namespace syncline

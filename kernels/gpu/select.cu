// Passes over the tensor on a GPU: add, and list what reaches a key.
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
  for (std::uint32_t tile = first_tile(room.ticket, shared), next_tile = 0; tile < tiles;
       tile = next_tile) {
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
    const Place place = place_of(room.ticket, room.status, shared, tile, found);
    next_tile = place.next;
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
void launch_collect(const Value* g, bool feedback, bool only_fallback, const Selector& s) {
  Selection* const selection = s.room.selection;
  if (s.input.elements == 0)  // no tile will say so
    cudaMemsetAsync(&selection->listed, 0, sizeof selection->listed, stream_of(s.stream));
  launch(collect_kernel<Value>, persistent_blocks(), block_threads, s.stream, g, s.input.residual,
         s.input.elements, feedback, only_fallback, s.room);
}

__global__ void low_key_kernel(SelectionRoom room, std::uint32_t key) {
  if (grid_thread() == 0)
    room.selection->low_key = key;
  clear_look_back(room);
  clear_counts(room);
}

template <class Value>
__global__ void send_list_kernel(float* u, SelectionRoom room, DeviceOutput output,
                                 std::size_t elements) {
  const std::uint64_t listed = room.selection->listed;
  if (grid_thread() == 0)
    room.selection->selected = *output.selected = listed;
  for (std::size_t i = grid_thread(); i < listed; i += grid_threads())
    send<Value>(u, room, i, i, output, elements);
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
  launch_each(count, scatter_kernel<Value>, stream, message, count, sum);
}

}  // namespace

namespace {

// What begins after it begins a sector, and a line of the cache.
std::size_t whole_lines(std::size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

}  // namespace

std::size_t selection_bytes(std::size_t elements) {
  const std::size_t tiles = tiles_of(elements);
  return 1024 + whole_lines(tiles * sizeof(Moments)) + whole_lines(look_back_bytes(tiles)) +
         whole_lines(counts_bytes) + 4 * sample_keys + 2 * whole_lines(4 * elements);
}

Selector selector_in(void* workspace, const DeviceInput& input, const DeviceOutput& output,
                     void* stream) {
  static_assert(sizeof(Selection) <= 1024);
  const std::size_t tiles = tiles_of(input.elements);
  std::byte* at = static_cast<std::byte*>(workspace);
  std::byte* const beside = at + selection_bytes(input.elements);
  SelectionRoom room;
  room.selection = reinterpret_cast<Selection*>(at);
  room.tiles = reinterpret_cast<Moments*>(at += 1024);
  room.ticket = reinterpret_cast<unsigned*>(at += whole_lines(tiles * sizeof(Moments)));
  room.look_back_bytes = look_back_bytes(tiles);
  room.status = reinterpret_cast<unsigned long long*>(at + look_back_bytes(0));
  room.histogram = reinterpret_cast<unsigned*>(at += whole_lines(room.look_back_bytes));
  room.sample = reinterpret_cast<std::uint32_t*>(at += whole_lines(counts_bytes));
  room.samples = sample_keys;
  room.list = reinterpret_cast<std::uint32_t*>(at + 4 * sample_keys);
  room.bits = room.list + whole_lines(4 * input.elements) / 4;
  return {input, output, room, beside, stream};
}

void Selector::begin_look_back() const {
  cudaMemsetAsync(room.ticket, 0, room.look_back_bytes, stream_of(stream));
}

void Selector::begin_counts() const {
  cudaMemsetAsync(room.histogram, 0, counts_bytes, stream_of(stream));
}

void Selector::add_and_collect(bool feedback) const {
  with_gradient(input, [&](const auto* g) { launch_collect(g, feedback, false, *this); });
}

void Selector::collect() const {
  begin_look_back();
  launch_collect<float>(nullptr, true, false, *this);
}

void Selector::collect_where_misled() const {
  launch_collect<float>(nullptr, true, true, *this);
}

void Selector::set_low_key(std::uint32_t key) const {
  launch(low_key_kernel, 8, block_threads, stream, room, key);
}

void Selector::write_list() const {
  const auto kernel = input.halves != nullptr ? send_list_kernel<Half> : send_list_kernel<float>;
  launch(kernel, persistent_blocks(), block_threads, stream, input.residual, room, output,
         input.elements);
}

DeviceCompressor sparsifier_on_device(const std::string& name,
                                      void (*encode)(const Settings&, const Draw&, const Selector&),
                                      decltype(DeviceCompressor::prepare) prepare) {
  return {.name = name,
          .halves = true,
          .message_room = sparse_room,
          .parts = sparse_parts,
          .workspace_bytes = [](const Settings&, std::size_t n) { return selection_bytes(n); },
          .prepare = std::move(prepare),
          .encode =
              [=](const Settings& settings, const DeviceInput& input, const Draw& draw,
                  const DeviceOutput& output, void* workspace, void* stream) {
                encode(settings, draw, selector_in(workspace, input, output, stream));
              },
          .decode_add = decode_sparse<float>,
          .decode_add_halves = decode_sparse<Half>};
}

}  // namespace syncline

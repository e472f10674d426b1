// Passes over the tensor on a GPU: add, and list what reaches a key.
#include "kernels/gpu/lookback.cuh"
#include "kernels/gpu/selection.cuh"
#include "kernels/gpu/tiles.cuh"

namespace syncline {
namespace {

// Entries of a tile's list that are kept until its place is known; for a longer list the block
// waits. (A warp lists 128 at a time.)
constexpr unsigned kept_most = 128 * warps;

// Shared memory of a block while it lists. With one barrier per tile, another thread may still read
// what one tile wrote until the next barrier, so there are two copies of each.
struct Lists {
  uint2 kept[2][kept_most];  // indices and values
  unsigned of_warp[2][warps];
  unsigned long long before[2];  // of the previous tile's list
  unsigned long long now;        // of a list too long to keep
  std::uint32_t next[2];         // next tile of the block
};

struct KeptTile {
  std::uint32_t tile;  // past the last: none
  unsigned count = 0;
};

// Finds where the lists of all tiles before this one end; for the first warp. Result in `before`.
__device__ void find_place(const SelectionRoom& room, const KeptTile& kept,
                           unsigned long long& before) {
  if (threadIdx.x >= 32)
    return;
  const unsigned long long found = look_back(room.status, kept.tile, kept.count);
  if (threadIdx.x == 0)
    before = found;
}

__device__ void write_kept(const SelectionRoom& room, const uint2* list, const KeptTile& kept,
                           std::size_t before) {
  for (unsigned i = threadIdx.x; i < kept.count; i += block_threads) {
    room.list[before + i] = list[i].x;
    room.bits[before + i] = list[i].y;
  }
}

// Makes u = g + e of a tile, or takes what exists of the two. Returns one bit per value of this
// lane that reaches the key; `found`: how many of the warp's values do.
__device__ unsigned add_and_mark(TileFours& values, const TileFours& rest, bool from_u,
                                 bool feedback, unsigned count, std::uint32_t low_key,
                                 unsigned& found) {
  unsigned listed = 0;
  found = 0;
#pragma unroll
  for (unsigned v = 0; v < tile_fours; ++v) {
    const float4 a = values[v], b = rest[v];
    if (from_u)
      values[v] = b;
    else if (feedback)
      values[v] = {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
    const float four[] = {values[v].x, values[v].y, values[v].z, values[v].w};
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
      const bool reaches = four_in_tile(v) + k < count && magnitude_key(four[k]) >= low_key;
      listed |= reaches ? 1u << (4 * v + k) : 0u;
      found += __popc(__ballot_sync(all_lanes, reaches));
    }
  }
  return listed;
}

// Lists those of this lane's values 4 v to 4 v + 3 whose bits are set, together with the warp's
// other lanes, from `to` on, in order; returns the number listed by the warp.
__device__ unsigned list_fours(unsigned listed, const TileFours& values, std::size_t tile,
                               unsigned v, uint2* to) {
  const unsigned lower = lanes_below(), mine = listed >> 4 * v & 15u;
  const std::uint32_t index = static_cast<std::uint32_t>(tile * tile_elements) + four_in_tile(v);
  const float four[] = {values[v].x, values[v].y, values[v].z, values[v].w};
  unsigned at = 0, all = 0;
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned ballot = __ballot_sync(all_lanes, (mine >> k & 1u) != 0);
    at += __popc(ballot & lower);
    all += __popc(ballot);
  }
#pragma unroll
  for (unsigned k = 0; k < 4; ++k)
    if ((mine >> k & 1u) != 0)
      to[at++] = {index + k, __float_as_uint(four[k])};
  return all;
}

// Writes a list that is too long to keep, in parts of 128 values, through the warp's own room.
__device__ void write_parts(const SelectionRoom& room, unsigned listed, const TileFours& values,
                            std::size_t tile, std::size_t place, uint2* room_of_warp) {
#pragma unroll
  for (unsigned v = 0; v < tile_fours; ++v) {
    const unsigned count = list_fours(listed, values, tile, v, room_of_warp);
    __syncwarp();
    for (unsigned i = lane_of_warp(); i < count; i += 32) {
      room.list[place + i] = room_of_warp[i].x;
      room.bits[place + i] = room_of_warp[i].y;
    }
    __syncwarp();
    place += count;
  }
}

// One pass: u = g + e (unless g is null), and the indices and values that reach the low key, in
// order. A tile's list has its place when all lists before it are counted; until then the block
// keeps it in shared memory and works on its next tile. A tile is loaded completely before any of
// it is stored: no compiler moves a load ahead of a store that may alias it.
template <class Value>
__global__ void __launch_bounds__(block_threads, 2)
    collect_kernel(const Value* g, float* u, std::size_t elements, bool feedback,
                   bool only_fallback, SelectionRoom room) {
  __shared__ Lists lists;
  if (only_fallback && room.selection->fallback == 0)
    return;
  const unsigned warp = threadIdx.x / 32;
  const std::uint32_t low_key = room.selection->low_key;
  const std::uint32_t tiles = static_cast<std::uint32_t>(tiles_of(elements));
  KeptTile kept{tiles};
  unsigned turn = 0;
  if (threadIdx.x == 0)
    lists.next[1] = atomicAdd(room.ticket, 1u);
  __syncthreads();
  for (std::uint32_t tile = lists.next[1]; tile < tiles; tile = lists.next[turn ^ 1]) {
    float* const of_u = u + std::size_t{tile} * tile_elements;
    const unsigned count = elements_of_tile(tile, elements);
    TileFours values = {}, rest = {};
    if (g != nullptr)
      load_tile(g + std::size_t{tile} * tile_elements, count, values);
    if (g == nullptr || feedback)
      load_tile(of_u, count, rest);
    if (threadIdx.x == 0)
      lists.next[turn] = atomicAdd(room.ticket, 1u);
    if (kept.tile < tiles)
      find_place(room, kept, lists.before[turn]);
    unsigned found = 0;
    const unsigned listed =
        add_and_mark(values, rest, g == nullptr, feedback, count, low_key, found);
    if (g != nullptr)
      store_tile(of_u, count, values);
    if (lane_of_warp() == 0)
      lists.of_warp[turn][warp] = found;
    __syncthreads();
    if (kept.tile < tiles)
      write_kept(room, lists.kept[turn ^ 1], kept, lists.before[turn]);
    unsigned earlier = 0, total = 0;
    for (unsigned w = 0; w < warps; ++w) {
      earlier += w < warp ? lists.of_warp[turn][w] : 0;
      total += lists.of_warp[turn][w];
    }
    if (threadIdx.x == 0)
      publish(room.status, tile, total);
    kept = {tile, total};
    if (total <= kept_most) {
      uint2* to = lists.kept[turn] + earlier;
#pragma unroll
      for (unsigned v = 0; v < tile_fours; ++v)
        to += list_fours(listed, values, tile, v, to);
    } else {
      find_place(room, kept, lists.now);
      __syncthreads();
      write_parts(room, listed, values, tile, lists.now + earlier,
                  lists.kept[turn] + warp * (kept_most / warps));
      if (tile == tiles - 1 && threadIdx.x == 0)
        room.selection->listed = lists.now + total;
      kept.tile = tiles;
    }
    turn ^= 1;
  }
  if (kept.tile == tiles)
    return;
  find_place(room, kept, lists.before[turn]);
  __syncthreads();
  write_kept(room, lists.kept[turn ^ 1], kept, lists.before[turn]);
  if (kept.tile == tiles - 1 && threadIdx.x == 0)
    room.selection->listed = lists.before[turn] + kept.count;
}

template <class Value>
void launch_collect(const Value* g, bool feedback, bool only_fallback, const Selector& s) {
  Selection* const selection = s.room.selection;
  if (s.input.elements == 0)  // no tile will set it
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
  constexpr unsigned asked = 4;  // entries loaded together, before any store
  for (std::size_t first = grid_thread(); first < listed; first += asked * grid_threads()) {
    std::uint32_t index[asked], bits[asked];
#pragma unroll
    for (unsigned k = 0; k < asked; ++k)
      if (const std::size_t i = first + k * grid_threads(); i < listed) {
        index[k] = room.list[i];
        bits[k] = room.bits[i];
      }
#pragma unroll
    for (unsigned k = 0; k < asked; ++k)
      if (const std::size_t i = first + k * grid_threads(); i < listed)
        send<Value>(u, index[k], bits[k], i, output, elements);
  }
}

// Padding, so that what follows begins at a sector and at a cache line.
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

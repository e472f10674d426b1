// CAT on a GPU, with the bits of the CPU: one thread walks over sorted magnitudes (cat_walk.cuh).
// The walk nearly always ends among the first few, so a short top of the tensor is selected and
// sorted first. Everything is sorted only if the walk gets past that top, which only the device
// knows: both rounds are enqueued, and the kernels of the second return at once. (A walk to the end
// of a large tensor, which a fixed cost far above that of the packets causes, takes some 5 ns per
// element: the rule is serial.)
//
// Equal magnitudes give the same additions in any order, so only keys are sorted, by radix digits
// in four passes. What is sent then follows from the key of rank T, as in topk.cu.
#include "kernels/compressors/cat_walk.cuh"
#include "kernels/gpu/lookback.cuh"
#include "kernels/gpu/selection.cuh"

namespace syncline::cat {
namespace {

constexpr std::size_t first_top = 65536, answer_bytes = 256;
constexpr unsigned digits = 256;

// Copies the keys above cut_key; all keys of the top that come after them equal it.
__global__ void top_keys_kernel(Room room) {
  const Selection& selection = *room.selection.selection;
  const std::size_t first = grid_thread();
  if (first == 0)
    room.answer->rest = selection.cut_key;
  for (std::size_t i = first; i < selection.listed; i += grid_threads()) {
    const std::uint32_t key = key_of_bits(room.selection.bits[i]);
    if (key > selection.cut_key)
      room.keys[atomicAdd(reinterpret_cast<unsigned long long*>(&room.answer->sorted), 1ull)] = key;
  }
}

__global__ void all_keys_kernel(const float* u, std::size_t elements, Room room) {
  const std::size_t first = grid_thread();
  if (room.answer->finished != 0)
    return;
  if (first == 0)
    room.answer->sorted = elements;
  for (std::size_t i = first; i < elements; i += grid_threads())
    room.keys[i] = magnitude_key(u[i]);
}

__device__ unsigned digit_of(std::uint32_t key, unsigned shift) {
  return digits - 1 - (key >> shift) % digits;  // descending
}

__global__ void __launch_bounds__(block_threads) count_digits_kernel(Room room, unsigned shift) {
  __shared__ unsigned counts[digits];
  if (room.answer->finished != 0)
    return;
  const std::size_t count = room.answer->sorted, tiles = tiles_of(count);
  for (std::size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    if (threadIdx.x < digits)
      counts[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned row = 0; row < rows; ++row) {
      const std::size_t i = tile * tile_elements + row * block_threads + threadIdx.x;
      if (i < count)
        atomicAdd(&counts[digit_of(room.keys[i], shift)], 1u);
    }
    __syncthreads();
    if (threadIdx.x < digits)
      room.table[threadIdx.x * tiles + tile] = counts[threadIdx.x];
    __syncthreads();
  }
}

// One block: replaces each entry of the table by the sum of those before it.
__global__ void __launch_bounds__(1024) sum_table_kernel(Room room) {
  __shared__ unsigned sums[1024];
  if (room.answer->finished != 0)
    return;
  const std::size_t size = digits * tiles_of(room.answer->sorted);
  unsigned before = 0;
  for (std::size_t begin = 0; begin < size; begin += 1024) {
    const std::size_t i = begin + threadIdx.x;
    const unsigned mine = i < size ? room.table[i] : 0;
    sums[threadIdx.x] = mine;
    __syncthreads();
    for (unsigned step = 1; step < 1024; step *= 2) {
      const unsigned more = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
      __syncthreads();
      sums[threadIdx.x] += more;
      __syncthreads();
    }
    if (i < size)
      room.table[i] = before + sums[threadIdx.x] - mine;
    before += sums[1023];
    __syncthreads();
  }
}

// The lanes with the same digit as this lane: how many, and how many of them come before it.
struct Peers {
  unsigned count, rank;
};

__device__ Peers peers_of(unsigned digit) {
  const unsigned peers = __match_any_sync(all_lanes, digit);
  return {static_cast<unsigned>(__popc(peers)),
          static_cast<unsigned>(__popc(peers & lanes_below()))};
}

// Stable, as every pass of a radix sort must be: a warp takes its rows in order, and a tile its
// warps.
__global__ void __launch_bounds__(block_threads) scatter_digits_kernel(Room room, unsigned shift) {
  __shared__ unsigned places[warps][digits + 1];  // the last place is for lanes past the end
  if (room.answer->finished != 0)
    return;
  const unsigned warp = threadIdx.x / 32;
  const std::size_t count = room.answer->sorted, tiles = tiles_of(count);
  for (std::size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const std::size_t first = first_in_tile(tile);
    for (unsigned i = threadIdx.x; i < warps * (digits + 1); i += blockDim.x)
      places[i / (digits + 1)][i % (digits + 1)] = 0;
    __syncthreads();
    for (unsigned row = 0; row < rows; ++row) {
      const std::size_t i = first + row * 32;
      const unsigned digit = i < count ? digit_of(room.keys[i], shift) : digits;
      const Peers peers = peers_of(digit);
      if (peers.rank == 0)
        places[warp][digit] += peers.count;
      __syncwarp();
    }
    __syncthreads();
    if (threadIdx.x < digits) {
      unsigned next = room.table[threadIdx.x * tiles + tile];
      for (unsigned w = 0; w < warps; ++w) {
        const unsigned own = places[w][threadIdx.x];
        places[w][threadIdx.x] = next;
        next += own;
      }
    }
    __syncthreads();
    for (unsigned row = 0; row < rows; ++row) {
      const std::size_t i = first + row * 32;
      const std::uint32_t key = i < count ? room.keys[i] : 0;
      const unsigned digit = i < count ? digit_of(key, shift) : digits;
      const Peers peers = peers_of(digit);
      const unsigned place = places[warp][digit] + peers.rank;
      if (i < count)
        room.other[place] = key;
      __syncwarp();
      if (peers.rank == 0)
        places[warp][digit] += peers.count;
      __syncwarp();
    }
    __syncthreads();
  }
}

__global__ void report_kernel(Room room, DeviceOutput output) {
  *output.selected = room.answer->best;
}

// The message of the stochastic rule, in order: kept values are divided by their probability; no
// residual stays.
template <class Value>
__global__ void __launch_bounds__(block_threads)
    keep_kernel(float* u, std::size_t elements, Draw draw, Room room, DeviceOutput output) {
  __shared__ TileCounts shared;
  const unsigned lane = lane_of_warp();
  const double unit = room.answer->unit;
  const std::uint32_t tiles = static_cast<std::uint32_t>(tiles_of(elements));
  unsigned* const ticket = room.selection.ticket;
  std::uint32_t* const indices = reinterpret_cast<std::uint32_t*>(output.message);
  for (std::uint32_t tile = first_tile(ticket, shared), next_tile = 0; tile < tiles;
       tile = next_tile) {
    const std::size_t first = first_in_tile(tile);
    unsigned ballots[rows];
    unsigned found = 0;
#pragma unroll
    for (unsigned row = 0; row < rows; ++row) {
      const std::size_t i = first + row * 32;
      ballots[row] =
          __ballot_sync(all_lanes, i < elements && uniform(draw, i) < chance(u[i], unit));
      found += __popc(ballots[row]);
    }
    const Place place = place_of(ticket, room.selection.status, shared, tile, found);
    next_tile = place.next;
    std::size_t next = place.begin;
#pragma unroll
    for (unsigned row = 0; row < rows; ++row) {
      const std::size_t i = first + row * 32;
      if ((ballots[row] >> lane & 1u) != 0) {
        const std::size_t at = next + __popc(ballots[row] & lanes_below());
        float value = static_cast<float>(u[i] / chance(u[i], unit));
        indices[at] = static_cast<std::uint32_t>(i);
        send_value<Value>(value, output.message + 4 * elements, at);
      }
      if (i < elements)
        u[i] = 0;
      next += __popc(ballots[row]);
    }
    if (tile == tiles - 1 && threadIdx.x == 0)
      *output.selected = place.end;
  }
}

__global__ void signs_kernel(float* u, std::size_t elements, Room room, DeviceOutput output) {
  const std::size_t count = room.answer->best;
  const std::size_t first = grid_thread();
  const unsigned lane = lane_of_warp();
  const std::uint32_t* const indices = reinterpret_cast<const std::uint32_t*>(output.message);
  const float* const values = reinterpret_cast<const float*>(output.message + 4 * elements);
  float* const scales = reinterpret_cast<float*>(output.message + 8 * elements);
  std::uint32_t* const words = reinterpret_cast<std::uint32_t*>(scales + 1);
  const float scale = sign_scale(room.answer->best_sum, count);
  if (first == 0)
    *scales = canonical(scale);
  for (std::size_t i = first; i - lane < count; i += grid_threads()) {
    const float value = i < count ? values[i] : -1.0f;
    const unsigned word = __ballot_sync(all_lanes, value >= 0);
    if (lane == 0)
      words[i / 32] = word;
    if (i < count)
      u[indices[i]] = isfinite(scale) ? value - (value >= 0 ? scale : -scale) : 0.0f;
  }
}

__global__ void unsign_kernel(const std::byte* message, std::size_t count, float* sum) {
  const std::size_t i = grid_thread();
  if (i >= count)
    return;
  const float scale = *reinterpret_cast<const float*>(message);
  const std::uint32_t* const indices = reinterpret_cast<const std::uint32_t*>(message) + 1;
  const bool set = (indices[count + i / 32] >> i % 32 & 1u) != 0;
  sum[indices[i]] += set ? scale : -scale;
}

Room room_of(const Selector& selector) {
  const std::size_t n = selector.input.elements;
  std::uint32_t* const keys = reinterpret_cast<std::uint32_t*>(selector.beside + answer_bytes);
  return {reinterpret_cast<Answer*>(selector.beside), selector.room, keys, keys + n, keys + 2 * n};
}

// Four passes, so the keys end in the array where they began.
void sort_keys(Room room, void* stream) {
  for (unsigned shift = 0; shift < 32; shift += 8) {
    launch(count_digits_kernel, persistent_blocks(), block_threads, stream, room, shift);
    launch(sum_table_kernel, 1, 1024, stream, room);
    launch(scatter_digits_kernel, persistent_blocks(), block_threads, stream, room, shift);
    std::swap(room.keys, room.other);
  }
}

// Leaves T in room.answer, and the cut that follows from T in the selection.
void find_best(const Terms& terms, const Selector& selector, const Room& room) {
  const std::size_t n = selector.input.elements;
  void* const stream = selector.stream;
  if (n > first_top) {
    selector.take_bin_of(first_top);
    selector.collect();
    selector.cut_list(first_top);
    launch(top_keys_kernel, persistent_blocks(), block_threads, stream, room);
    sort_keys(room, stream);
    launch(walk_kernel, 1, walk_threads, stream, terms, first_top, n, room);
  }
  launch(all_keys_kernel, persistent_blocks(), block_threads, stream, selector.input.residual, n,
         room);
  sort_keys(room, stream);
  launch(walk_kernel, 1, walk_threads, stream, terms, n, n, room);
}

void keep_at_random(const Draw& draw, const Selector& selector, const Room& room) {
  const DeviceInput& input = selector.input;
  const DeviceOutput& output = selector.output;
  cudaMemsetAsync(output.selected, 0, sizeof *output.selected, stream_of(selector.stream));
  selector.begin_look_back();
  const auto kernel = input.halves != nullptr ? keep_kernel<Half> : keep_kernel<float>;
  launch(kernel, persistent_blocks(), block_threads, selector.stream, input.residual,
         input.elements, draw, room, output);
}

void encode(const Settings& settings, const Draw& draw, const Selector& selector) {
  const DeviceInput& input = selector.input;
  const Terms terms = terms_of(settings, input.elements);
  const Room room = room_of(selector);
  cudaMemsetAsync(room.answer, 0, sizeof *room.answer, stream_of(selector.stream));
  selector.add_sum_and_count(keeps_residual(settings));
  if (input.elements > 0)
    find_best(terms, selector, room);
  if (terms.rule == Rule::stochastic) {
    keep_at_random(draw, selector, room);
    return;
  }
  selector.collect();
  Selector plain = selector;  // the sign rule uses fp32 values
  plain.input.halves = terms.rule == Rule::sign ? nullptr : input.halves;
  plain.begin_look_back();
  plain.write_band();
  launch(report_kernel, 1, 1, selector.stream, room, selector.output);
  if (terms.rule == Rule::sign)
    launch(signs_kernel, persistent_blocks(), block_threads, selector.stream, input.residual,
           input.elements, room, selector.output);
}

using Decoder = decltype(DeviceCompressor::decode_add);

// Decodes the sign rule's messages, and the usual sparse messages of the other rules.
Decoder decoder_of_signs_and(const Decoder& decode_sparse) {
  return [=](const Settings& settings, const DeviceMessages& messages, const Draw& draw, float* sum,
             std::size_t elements, void* workspace, void* stream) {
    if (settings.word("rule") != "sign") {
      decode_sparse(settings, messages, draw, sum, elements, workspace, stream);
      return;
    }
    for_each_message(messages, [&](const std::byte* message, std::size_t bytes) {
      const std::size_t count = (bytes / 4 - 1) * 32 / 33;
      launch_each(count, unsign_kernel, stream, message, count, sum);
    });
  };
}

std::size_t message_room(const Settings& settings, std::size_t elements) {
  return sparse_room(settings, elements) + 4 + 4 * ((elements + 31) / 32);
}

// The parts of the sign rule's message in its room. The room holds, in order of creation: the
// indices, the values subtracted from the residual (not sent), the scale, one bit per index.
std::vector<MessagePart> parts(const Settings& settings, std::size_t elements, Precision precision,
                               std::uint64_t selected) {
  if (settings.word("rule") != "sign")
    return sparse_parts(settings, elements, precision, selected);
  return {{8 * elements, 4}, {0, 4 * selected}, {8 * elements + 4, 4 * ((selected + 31) / 32)}};
}

std::size_t workspace_bytes(const Settings&, std::size_t elements) {
  return answer_bytes + selection_bytes(elements) + 8 * elements + 4 * digits * tiles_of(elements);
}

DeviceCompressor cat_on_device() {
  DeviceCompressor device = sparsifier_on_device("cat", encode);
  device.message_room = message_room;
  device.parts = parts;
  device.workspace_bytes = workspace_bytes;
  device.decode_add = decoder_of_signs_and(device.decode_add);
  device.decode_add_halves = decoder_of_signs_and(device.decode_add_halves);
  return device;
}

const Registered<DeviceCompressor> entry{cat_on_device()};

}  // namespace
}  // namespace syncline::cat

// AdaComp on a GPU. A block takes a pack of bins: it adds, finds each bin's largest, lists what is
// sent in order, and writes the codes behind those of the packs before (lookback.cuh). Once the
// scale is known, the codes say where to subtract it.
#include "kernels/compressors/adacomp.h"
#include "kernels/gpu/lookback.cuh"

namespace syncline {
namespace {

constexpr std::size_t smallest_bin = 8, walk_threads = 256;

struct BinRoom {
  unsigned* ticket = nullptr;            // of the look-back
  unsigned long long* status = nullptr;  // of each pack
  double* sums = nullptr;                // of each pack's largest magnitudes
};

constexpr std::size_t sums_begin(std::size_t packs) {
  return (look_back_bytes(packs) + 31) / 32 * 32;
}

BinRoom room_in(void* workspace, std::size_t packs) {
  std::byte* const room = static_cast<std::byte*>(workspace);
  return {reinterpret_cast<unsigned*>(room), reinterpret_cast<unsigned long long*>(room + 32),
          reinterpret_cast<double*>(room + sums_begin(packs))};
}

// What the threads of a block share while they work on a pack.
struct SharedPack {
  std::uint32_t words[tile_elements];  // keys of u, then the list
  std::uint32_t tops[tile_elements / smallest_bin];
  unsigned sends[tile_elements / smallest_bin];  // whether a bin sends anything
};

// The largest key of each bin, by one warp after the other.
__device__ void find_tops(const BinMessage& bins, unsigned elements, SharedPack& pack) {
  const auto bin = static_cast<unsigned>(bins.bin);
  for (unsigned b = threadIdx.x / 32; b * bin < elements; b += warps) {
    const unsigned end = (b + 1) * bin < elements ? (b + 1) * bin : elements;
    std::uint32_t top = 0;
    for (unsigned i = b * bin + lane_of_warp(); i < end; i += 32)
      top = top > pack.words[i] ? top : pack.words[i];
    top = warp_top(top);
    if (lane_of_warp() == 0) {
      pack.tops[b] = top;
      pack.sends[b] = 0;
    }
  }
}

// The sum of the tops in lanes of bins, by one warp.
__device__ double sum_of_tops(const SharedPack& pack, unsigned bins) {
  double mine = 0;
  for (unsigned b = lane_of_warp(); b < bins; b += 32)
    mine += __uint_as_float(pack.tops[b]);
  return ordered_sum(mine);
}

// This lane's elements of a pack: row r is 32 r beyond the first. A bit for each row:
struct LaneRows {
  unsigned negative = 0;  // u < 0
  unsigned sent = 0;
  unsigned listed = 0;  // sent, or the first of a bin that sends nothing
};

__device__ inline bool at_row(unsigned bits, unsigned row) {
  return (bits >> row & 1u) != 0;
}

// u = g + e, or g; its keys go to shared memory, those of u + g to `keys`.
template <class Value>
__device__ unsigned add_pack(const Value* g, float* u, unsigned elements, bool feedback,
                             SharedPack& pack, std::uint32_t (&keys)[rows]) {
  const auto mine = static_cast<unsigned>(first_in_tile(0));
  float values[rows], rest[rows] = {};
  load_rows<32>(g, mine, elements, values);
  if (feedback)
    load_rows<32>(u, mine, elements, rest);
  unsigned negative = 0;
#pragma unroll
  for (unsigned row = 0; row < rows; ++row) {
    const unsigned i = mine + row * 32;
    const float sum = feedback ? values[row] + rest[row] : values[row];
    keys[row] = magnitude_key(sum + values[row]);
    negative |= (sum < 0 ? 1u : 0u) << row;
    pack.words[i] = magnitude_key(sum);
    if (i < elements)
      u[i] = sum;
  }
  return negative;
}

// What is sent; notes bins that send something.
__device__ unsigned sent_of(unsigned bin, unsigned elements, const std::uint32_t (&keys)[rows],
                            SharedPack& pack) {
  unsigned sent = 0;
#pragma unroll
  for (unsigned row = 0; row < rows; ++row) {
    const unsigned i = static_cast<unsigned>(first_in_tile(0)) + row * 32;
    if (i < elements && keys[row] >= sent_from(pack.tops[i / bin])) {
      sent |= 1u << row;
      atomicOr(&pack.sends[i / bin], 1u);
    }
  }
  return sent;
}

__device__ unsigned listed_of(unsigned bin, unsigned elements, unsigned sent,
                              const SharedPack& pack) {
  unsigned listed = sent;
#pragma unroll 4
  for (unsigned row = 0; row < rows; ++row)
    if (const unsigned i = static_cast<unsigned>(first_in_tile(0)) + row * 32;
        i < elements && i % bin == 0 && pack.sends[i / bin] == 0)
      listed |= 1u << row;
  return listed;
}

// Lists this warp's rows in the pack's words, from `next` on.
__device__ void list_rows(const LaneRows& lane, unsigned next, SharedPack& pack) {
#pragma unroll 4
  for (unsigned row = 0; row < rows; ++row) {
    const bool sent = at_row(lane.sent, row);
    const unsigned ballot = __ballot_sync(all_lanes, at_row(lane.listed, row));
    if (at_row(lane.listed, row))
      pack.words[next + __popc(ballot & lanes_below())] =
          sent_word(first_in_tile(0) + row * 32, sent && at_row(lane.negative, row), !sent);
    next += __popc(ballot);
  }
}

template <class Value>
__global__ void __launch_bounds__(block_threads, 2)
    bin_kernel(const Value* g, float* u, BinMessage bins, bool feedback, BinRoom room,
               DeviceOutput output) {
  __shared__ SharedPack shared;
  __shared__ TileCounts counts;
  const auto packs = static_cast<std::uint32_t>(bins.packs());
  const auto bin = static_cast<unsigned>(bins.bin);
  for (std::uint32_t pack = first_tile(room.ticket, counts), next_pack = 0; pack < packs;
       pack = next_pack) {
    const std::size_t first = bins.first_of(pack);
    const auto elements = static_cast<unsigned>(bins.elements_of(pack));
    std::uint32_t keys[rows];
    LaneRows lane{add_pack(g + first, u + first, elements, feedback, shared, keys)};
    __syncthreads();
    find_tops(bins, elements, shared);
    __syncthreads();
    if (threadIdx.x < 32) {
      const double sum = sum_of_tops(shared, static_cast<unsigned>(bins.bins_of(pack)));
      if (threadIdx.x == 0)
        room.sums[pack] = sum;
    }
    lane.sent = sent_of(bin, elements, keys, shared);
    __syncthreads();
    lane.listed = listed_of(bin, elements, lane.sent, shared);
    const Place place =
        place_of(room.ticket, room.status, counts, pack, warp_sum(__popc(lane.listed)));
    next_pack = place.next;
    const std::size_t before = counts.before;
    list_rows(lane, static_cast<unsigned>(place.begin - before), shared);
    __syncthreads();
    const auto all = static_cast<unsigned>(place.end - before);
    for (unsigned k = threadIdx.x; k < all; k += block_threads)
      bins.put(code_of(bins, shared.words[k], k + 1 < all ? shared.words[k + 1] : no_word),
               before + k, output.message);
    if (threadIdx.x == 0) {
      reinterpret_cast<std::uint32_t*>(output.message)[1 + pack] =
          static_cast<std::uint32_t>(before);
      if (pack == packs - 1)
        *output.selected = place.end;
    }
    __syncthreads();
  }
}

__global__ void __launch_bounds__(256) scale_kernel(BinMessage bins, BinRoom room, float* message) {
  const double sum = total_in_order(room.sums, bins.packs());
  if (threadIdx.x == 0)
    *message = canonical(mean_of_bins(sum, bins.bins()));
}

// Calls work(element, whether it is negative) for what a pack sends, in a block of walk_threads.
// `codes`: the number of codes of the whole message.
template <class Work>
__device__ void for_each_sent(const BinMessage& bins, std::size_t pack, const std::byte* message,
                              std::size_t codes, const Work& work) {
  __shared__ unsigned of_warps[walk_threads / 32];
  const std::uint32_t* const begins = reinterpret_cast<const std::uint32_t*>(message) + 1;
  const std::size_t end = pack + 1 < bins.packs() ? begins[pack + 1] : codes;
  std::size_t bin = bins.first_of(pack) / bins.bin;
  for (std::size_t begin = begins[pack]; begin < end; begin += walk_threads) {
    const std::size_t at = begin + threadIdx.x;
    const BinCode code = at < end ? bins.get(message, at) : BinCode{bins.nothing(), false, false};
    const unsigned lasts = __ballot_sync(all_lanes, code.last);
    if (lane_of_warp() == 0)
      of_warps[threadIdx.x / 32] = __popc(lasts);
    __syncthreads();
    std::size_t mine = bin + __popc(lasts & lanes_below());
    for (unsigned w = 0; w < walk_threads / 32; ++w) {
      mine += w < threadIdx.x / 32 ? of_warps[w] : 0;
      bin += of_warps[w];
    }
    if (code.place != bins.nothing())
      work(mine * bins.bin + code.place, code.negative);
    __syncthreads();
  }
}

__global__ void __launch_bounds__(walk_threads)
    settle_kernel(float* u, BinMessage bins, DeviceOutput output) {
  const float scale = *reinterpret_cast<const float*>(output.message);
  for_each_sent(bins, blockIdx.x, output.message, *output.selected,
                [&](std::size_t i, bool negative) { u[i] = left_of_sign(u[i], negative, scale); });
}

// Several messages are added to the pack in shared memory, one after the other.
template <bool several>
__global__ void __launch_bounds__(walk_threads)
    add_kernel(BinMessage bins, DeviceMessages messages, float* sum) {
  __shared__ float kept[several ? tile_elements : 1];
  const std::size_t first = bins.first_of(blockIdx.x);
  const auto elements = static_cast<unsigned>(bins.elements_of(blockIdx.x));
  for (unsigned i = threadIdx.x; several && i < elements; i += walk_threads)
    kept[i] = sum[first + i];
  __syncthreads();
  for (unsigned m = 0; m < messages.count; ++m) {
    const float scale = *reinterpret_cast<const float*>(messages.at[m]);
    for_each_sent(bins, blockIdx.x, messages.at[m], bins.codes_in(messages.bytes[m]),
                  [&](std::size_t i, bool negative) {
                    float& to = several ? kept[i - first] : sum[i];
                    to += negative ? -scale : scale;
                  });
  }
  for (unsigned i = threadIdx.x; several && i < elements; i += walk_threads)
    sum[first + i] = kept[i];
}

void encode(const Settings& settings, const DeviceInput& input, const Draw&,
            const DeviceOutput& output, void* workspace, void* stream) {
  const BinMessage bins = bin_message(settings, input.elements);
  const std::size_t packs = bins.packs();
  const BinRoom room = room_in(workspace, packs);
  if (packs > 0) {
    cudaMemsetAsync(room.ticket, 0, look_back_bytes(packs), stream_of(stream));
    with_gradient(input, [&]<class Value>(const Value* g) {
      launch(bin_kernel<Value>, persistent_blocks(), block_threads, stream, g, input.residual, bins,
             with_feedback(settings), room, output);
    });
  } else {
    cudaMemsetAsync(output.selected, 0, sizeof *output.selected, stream_of(stream));
  }
  add_groups(room.sums, packs, stream);
  launch(scale_kernel, 1, 256, stream, bins, room, reinterpret_cast<float*>(output.message));
  if (packs > 0)
    launch(settle_kernel, static_cast<unsigned>(packs), walk_threads, stream, input.residual, bins,
           output);
}

void decode_add(const Settings& settings, const DeviceMessages& messages, const Draw&, float* sum,
                std::size_t elements, void*, void* stream) {
  const BinMessage bins = bin_message(settings, elements);
  if (elements > 0)
    launch(messages.count > 1 ? add_kernel<true> : add_kernel<false>,
           static_cast<unsigned>(bins.packs()), walk_threads, stream, bins, messages, sum);
}

std::size_t message_room(const Settings& settings, std::size_t elements) {
  return bin_message(settings, elements).bytes(elements);
}

std::vector<MessagePart> parts(const Settings& settings, std::size_t elements, Precision,
                               std::uint64_t selected) {
  return {{0, bin_message(settings, elements).bytes(selected)}};
}

std::size_t workspace_bytes(const Settings& settings, std::size_t elements) {
  const std::size_t packs = bin_message(settings, elements).packs();
  return sums_begin(packs) + 8 * packs;
}

const Registered<DeviceCompressor> entry{{.name = "adacomp",
                                          .halves = true,
                                          .message_room = message_room,
                                          .parts = parts,
                                          .workspace_bytes = workspace_bytes,
                                          .encode = encode,
                                          .decode_add = decode_add}};

}  // namespace
}  // namespace syncline

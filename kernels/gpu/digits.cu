// Exact selection on a GPU: a bracket from a sample, the k-th largest by radix digits, and stable
// compaction of the list: the algorithm of select.cpp, kernel by kernel.
#include <cmath>

#include "kernels/arithmetic/permutation.h"
#include "kernels/gpu/lookback.cuh"
#include "kernels/gpu/selection.cuh"

namespace syncline {
namespace {

template <class Value>
__global__ void sample_kernel(const Value* g, const float* u, std::size_t elements, bool feedback,
                              Draw draw, SelectionRoom room) {
  const std::size_t i = grid_thread();
  clear_counts(room);
  std::size_t at = sampled_element(draw, elements, sample_strata, i / sample_neighbours);
  if (at > elements - sample_neighbours)
    at = elements - sample_neighbours;
  at += i % sample_neighbours;
  room.sample[i] = magnitude_key(feedback ? loaded(g, at) + u[at] : loaded(g, at));
}

enum class Keys { sample, list, tensor };

// The use of a cut: none yet, the next low_key (with or without 0), or selecting the k largest of
// the list.
enum class Use { none, low_key, low_key_above_zero, largest };

// Runs in one block. Chooses the digit that holds the rank (in the first round: k), if any; clears
// the histogram.
__device__ void choose(const SelectionRoom& room, unsigned shift, std::uint64_t k, Use use) {
  constexpr unsigned each = bins / block_threads;
  __shared__ unsigned long long of_warps[warps];
  Selection& selection = *room.selection;
  const unsigned digits = shift == 20 ? 2048 : 1024;
  const bool first = shift == 20;
  const unsigned long long rank = first ? k : selection.rank;
  unsigned counts[each];
  unsigned long long mine = 0;
#pragma unroll
  for (unsigned i = 0; i < each; ++i) {
    const unsigned digit = threadIdx.x * each + i;
    counts[i] = digit < digits ? atomicExch(&room.histogram[digit], 0u) : 0;
    mine += counts[i];
  }
  if (first && threadIdx.x == 0) {
    selection.rank = k;
    selection.cut_key = 0;
  }
  unsigned long long above = sum_after(mine, of_warps);
#pragma unroll
  for (unsigned i = each; i-- > 0; above += counts[i])
    if (above < rank && rank <= above + counts[i]) {
      selection.cut_key |= (threadIdx.x * each + i) << shift;
      selection.rank = rank - above;
    }
  __syncthreads();
  if (threadIdx.x != 0)
    return;
  const std::uint32_t cut_key = selection.cut_key;
  if (use == Use::low_key)
    selection.low_key = cut_key;
  if (use == Use::low_key_above_zero)
    selection.low_key = cut_key > 0 ? cut_key : 1;
  if (use == Use::largest) {  // sends what is above the cut, and the first keys equal to it
    selection.above_key = cut_key + 1;
    selection.band_key = cut_key;
    selection.skip = 0;
  }
}

__global__ void __launch_bounds__(block_threads)
    choose_kernel(SelectionRoom room, std::uint64_t k, Use use) {
  choose(room, 20, k, use);
}

// Whether this block is the last of the grid to arrive; if so, it sees everything that the others
// wrote before.
__device__ bool last_block(unsigned* arrived) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(arrived, 1u) == gridDim.x - 1;
    if (last)
      *arrived = 0;
    __threadfence();
  }
  __syncthreads();
  return last;
}

// Counts one digit of the keys that agree with the digits chosen so far, and chooses the next
// digit. Histograms are private to a block and merged with integer atomics, so the order does not
// matter. For the tensor: only if the list has fewer than k and leaves out more than zeros.
template <Keys from>
__global__ void __launch_bounds__(block_threads, 4)
    digit_kernel(const float* u, std::size_t elements, SelectionRoom room, unsigned shift,
                 std::uint64_t k, Use use) {
  __shared__ unsigned counts[bins];
  Selection& selection = *room.selection;
  if (from == Keys::tensor && (selection.listed >= k || selection.low_key <= 1)) {
    if (grid_thread() == 0)
      selection.fallback = 0;
    return;
  }
  if (shift == 20)  // the next look-back needs this; no kernel uses it now
    clear_look_back(room);
  const unsigned digits = shift == 20 ? 2048 : 1024;
  for (unsigned digit = threadIdx.x; digit < digits; digit += blockDim.x)
    counts[digit] = 0;
  __syncthreads();
  const std::uint32_t chosen = selection.cut_key;
  const unsigned known = shift == 20 ? 31 : shift == 10 ? 20 : 10;
  const std::size_t total = from == Keys::sample ? room.samples
                            : from == Keys::list ? selection.listed
                                                 : elements;
  const void* const words = from == Keys::sample ? static_cast<const void*>(room.sample)
                            : from == Keys::list ? static_cast<const void*>(room.bits)
                                                 : static_cast<const void*>(u);
  for_each_word(words, total, [&](std::uint32_t word) {
    const std::uint32_t key = from == Keys::sample ? word : key_of_bits(word);
    if (known == 31 || key >> known == chosen >> known)
      atomicAdd(&counts[(key >> shift) % digits], 1u);
  });
  __syncthreads();
  for (unsigned digit = threadIdx.x; digit < digits; digit += blockDim.x)
    if (counts[digit] != 0)
      atomicAdd(&room.histogram[digit], counts[digit]);
  if (!last_block(&room.histogram[bins]))
    return;
  choose(room, shift, k, use);
  if (from == Keys::tensor && threadIdx.x == 0)
    selection.fallback = 1;
}

template <Keys from>
void choose_digits(const Selector& s, unsigned rounds, std::uint64_t k, Use use) {
  constexpr unsigned shifts[] = {20, 10, 0};
  const unsigned blocks =
      from == Keys::sample && s.room.samples == sample_keys ? 32 : persistent_blocks();
  for (unsigned round = 0; round < rounds; ++round)
    launch(digit_kernel<from>, blocks, block_threads, s.stream, s.input.residual, s.input.elements,
           s.room, shifts[round], k, round + 1 == rounds ? use : Use::none);
}

// Sends the tensor's first elements, up to the last zero that is sent; all of them are sent. The
// list holds the non-zeros: before entry i, at element x, there are x - i zeros.
template <class Value>
__device__ void send_front(float* u, const SelectionRoom& room, const DeviceOutput& output,
                           std::size_t elements, std::uint64_t zeros) {
  const std::uint64_t low = first_after(  // the first entry after these zeros
      room.selection->listed, [&](std::uint64_t i) { return room.list[i] - i < zeros; });
  std::uint32_t* const indices = reinterpret_cast<std::uint32_t*>(output.message);
  for (std::size_t i = grid_thread(); i < zeros + low; i += grid_threads()) {
    float value = u[i];
    indices[i] = static_cast<std::uint32_t>(i);
    send_value<Value>(value, output.message + 4 * elements, i);
    u[i] = value;
  }
}

// Sends, in order, every list entry that reaches above_key and, of those between band_key and
// above_key, `rank` consecutive ones after the first `skip`. With k, a shorter list is filled up
// with the first zeros.
template <class Value>
__global__ void __launch_bounds__(block_threads, 2)
    trim_kernel(float* u, SelectionRoom room, DeviceOutput output, std::size_t elements,
                std::uint64_t k) {
  __shared__ TileCounts shared;
  const unsigned lane = lane_of_warp();
  const unsigned lower = lanes_below();
  const std::uint32_t above_key = room.selection->above_key, band_key = room.selection->band_key;
  const unsigned long long skip = room.selection->skip, wanted = room.selection->rank;
  const unsigned long long listed = room.selection->listed;
  const std::uint32_t tiles =
      static_cast<std::uint32_t>((listed + tile_elements - 1) / tile_elements);
  const std::uint64_t zeros = k > listed ? k - listed : 0;
  if (k > 0 && grid_thread() == 0)
    *output.selected = k;
  if (zeros > 0)
    send_front<Value>(u, room, output, elements, zeros);
  for (std::uint32_t tile = first_tile(room.ticket, shared), next_tile = 0; tile < tiles;
       tile = next_tile) {
    const std::size_t first = first_in_tile(tile);
    unsigned above[rows], band[rows];
    unsigned long long found = 0;  // counts: above in the high half, band in the low half
#pragma unroll
    for (unsigned row = 0; row < rows; ++row) {
      const std::size_t i = first + row * 32;
      const std::uint32_t key = i < listed ? key_of_bits(room.bits[i]) : 0;
      above[row] = __ballot_sync(all_lanes, i < listed && key >= above_key);
      band[row] = __ballot_sync(all_lanes, i < listed && key >= band_key && key < above_key);
      found += (static_cast<unsigned long long>(__popc(above[row])) << 31) + __popc(band[row]);
    }
    const Place place = place_of(room.ticket, room.status, shared, tile, found);
    next_tile = place.next;
    unsigned long long before_above = place.begin >> 31, before_band = place.begin & 0x7fffffffull;
#pragma unroll
    for (unsigned batch_begin = 0; batch_begin < rows; batch_begin += batch) {
      std::uint32_t index[batch], bits[batch];
#pragma unroll
      for (unsigned k = 0; k < batch; ++k) {
        const std::size_t i = first + (batch_begin + k) * 32;
        const bool sure = (above[batch_begin + k] >> lane & 1u) != 0;
        index[k] = sure ? room.list[i] : 0;
        bits[k] = sure ? room.bits[i] : 0;
      }
#pragma unroll
      for (unsigned k = 0; k < batch; ++k) {
        const unsigned row = batch_begin + k;
        const std::size_t i = first + row * 32;
        const unsigned long long my_above = before_above + __popc(above[row] & lower);
        const unsigned long long my_band = before_band + __popc(band[row] & lower);
        // How many of the band are sent before this entry.
        const unsigned long long sent = my_band < skip            ? 0
                                        : my_band < skip + wanted ? my_band - skip
                                                                  : wanted;
        const bool lucky =
            (band[row] >> lane & 1u) != 0 && my_band >= skip && my_band < skip + wanted;
        if (lucky) {
          index[k] = room.list[i];
          bits[k] = room.bits[i];
        }
        if (((above[row] >> lane & 1u) != 0 || lucky) &&
            (zeros == 0 || index[k] - (my_above + sent) >= zeros))
          send<Value>(u, index[k], bits[k], my_above + sent + zeros, output, elements);
        before_above += __popc(above[row]);
        before_band += __popc(band[row]);
      }
    }
  }
}

}  // namespace

void Selector::sample_low_key(bool feedback, std::size_t k, const Draw& draw) const {
  const double mean = static_cast<double>(k) / static_cast<double>(input.elements) * sample_keys;
  const double rank = mean + 5 * std::sqrt(mean) + 5;
  if (input.elements < 2 * sample_keys || rank >= sample_keys) {
    set_low_key(1);
    return;
  }
  with_gradient(input, [&]<class Value>(const Value* g) {
    launch(sample_kernel<Value>, sample_keys / 256, 256, stream, g, input.residual, input.elements,
           feedback, draw, room);
  });
  choose_digits<Keys::sample>(*this, 3, static_cast<std::size_t>(rank), Use::low_key_above_zero);
}

void Selector::ensure_collected(std::size_t k) const {
  choose_digits<Keys::tensor>(*this, 1, k, Use::low_key_above_zero);
  collect_where_misled();
}

void Selector::cut_sample(std::size_t k) const {
  choose_digits<Keys::sample>(*this, 3, k, Use::low_key);
}

void Selector::take_bin_of(std::size_t k) const {
  launch(choose_kernel, 1, block_threads, stream, room, k, Use::low_key);
}

void Selector::cut_list(std::size_t k) const {
  choose_digits<Keys::list>(*this, 3, k, Use::none);
}

void Selector::write_band(std::uint64_t k) const {
  const auto kernel = input.halves != nullptr ? trim_kernel<Half> : trim_kernel<float>;
  launch(kernel, persistent_blocks(), block_threads, stream, input.residual, room, output,
         input.elements, k);
}

void Selector::write_largest(std::size_t k) const {
  choose_digits<Keys::list>(*this, 3, k, Use::largest);
  write_band(k);
}

}  // namespace syncline

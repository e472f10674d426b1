// Exact selection on a GPU: a bracket from a sample, the k-th largest by radix digits, and the
// stable compaction of what was listed: the algorithm of select.cpp, kernel by kernel.
#include <cmath>

#include "kernels/arithmetic/permutation.h"
#include "kernels/gpu/lookback.cuh"
#include "kernels/gpu/selection.cuh"

namespace syncline {
namespace {

template <class Value>
__global__ void sample_kernel(const Value* g, const float* u, std::size_t elements, bool feedback,
                              Draw draw, std::uint32_t* keys) {
  const std::size_t i = grid_thread();
  std::size_t at = sampled_element(draw, elements, sample_strata, i / sample_neighbours);
  if (at > elements - sample_neighbours)
    at = elements - sample_neighbours;
  at += i % sample_neighbours;
  keys[i] = magnitude_key(feedback ? loaded(g, at) + u[at] : loaded(g, at));
}

enum class Keys { sample, list, tensor };

// Counts one digit of the keys that agree with the digits chosen so far. Histograms are private to
// a block and merged with integer atomics, so the result does not depend on any order.
template <Keys from>
__global__ void __launch_bounds__(block_threads)
    digit_kernel(const float* u, std::size_t elements, SelectionRoom room, unsigned shift,
                 unsigned digits) {
  __shared__ unsigned counts[bins];
  if (from == Keys::tensor && room.selection->fallback == 0)
    return;
  for (unsigned bin = threadIdx.x; bin < digits; bin += blockDim.x)
    counts[bin] = 0;
  __syncthreads();
  const std::uint32_t above = room.selection->cut_key;
  const unsigned known = shift == 20 ? 31 : shift == 10 ? 20 : 10;
  const std::size_t total = from == Keys::sample ? room.samples
                            : from == Keys::list ? room.selection->listed
                                                 : elements;
  const void* const words = from == Keys::sample ? static_cast<const void*>(room.sample)
                            : from == Keys::list ? static_cast<const void*>(room.bits)
                                                 : static_cast<const void*>(u);
  for_each_word(words, total, [&](std::uint32_t word) {
    const std::uint32_t key = from == Keys::sample ? word : key_of_bits(word);
    if (known == 31 || key >> known == above >> known)
      atomicAdd(&counts[(key >> shift) % digits], 1u);
  });
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < digits; bin += blockDim.x)
    if (counts[bin] != 0)
      atomicAdd(&room.histogram[bin], counts[bin]);
}

// A cut is for nothing yet, for the next low_key, or for the k largest of the list.
enum class Use { none, low_key, largest };

// One block: the digit that holds the rank (the first time: k), by a suffix sum; leaves the
// histogram at zero.
__global__ void __launch_bounds__(1024)
    choose_kernel(SelectionRoom room, unsigned shift, unsigned digits, std::uint64_t k, Use use,
                  bool only_fallback) {
  __shared__ unsigned long long suffix[bins + 1];
  if (only_fallback && room.selection->fallback == 0)
    return;
  for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
    suffix[bin] = bin < digits ? room.histogram[bin] : 0;
    room.histogram[bin] = 0;
  }
  if (threadIdx.x == 0)
    suffix[bins] = 0;
  const bool first = shift == 20;
  const unsigned long long rank = first ? k : room.selection->rank;
  if (first && threadIdx.x == 0) {
    room.selection->rank = k;
    room.selection->cut_key = 0;
  }
  for (unsigned step = 1; step < bins; step *= 2) {
    __syncthreads();
    unsigned long long more[2] = {};
    for (unsigned part = 0; part < 2; ++part) {
      const unsigned bin = threadIdx.x + part * 1024;
      more[part] = bin + step < bins ? suffix[bin + step] : 0;
    }
    __syncthreads();
    for (unsigned part = 0; part < 2; ++part)
      suffix[threadIdx.x + part * 1024] += more[part];
  }
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < digits; bin += blockDim.x)
    if (suffix[bin] >= rank && suffix[bin + 1] < rank) {
      room.selection->cut_key |= bin << shift;
      room.selection->rank = rank - suffix[bin + 1];
    }
  __syncthreads();
  if (threadIdx.x != 0 || use == Use::none)
    return;
  const std::uint32_t cut_key = room.selection->cut_key;
  if (use == Use::low_key)
    room.selection->low_key = cut_key;
  if (use == Use::largest) {  // what is above the cut, and the first few that equal it
    room.selection->above_key = cut_key + 1;
    room.selection->band_key = cut_key;
    room.selection->skip = 0;
  }
}

__global__ void judge_collected(Selection* selection, std::uint64_t k) {
  selection->fallback = selection->listed < k ? 1 : 0;
}

template <Keys from>
void choose_digits(const Selector& s, unsigned rounds, std::uint64_t k, Use use,
                   bool only_fallback) {
  constexpr unsigned shifts[] = {20, 10, 0}, digits[] = {2048, 1024, 1024};
  const unsigned blocks =
      from == Keys::sample && s.room.samples == sample_keys ? 32 : persistent_blocks();
  for (unsigned round = 0; round < rounds; ++round) {
    launch(digit_kernel<from>, blocks, block_threads, s.stream, s.input.residual, s.input.elements,
           s.room, shifts[round], digits[round]);
    launch(choose_kernel, 1, 1024, s.stream, s.room, shifts[round], digits[round], k,
           round + 1 == rounds ? use : Use::none, only_fallback);
  }
}

// Sends all of the list that reach above_key, and of those between band_key and it `rank` in a row,
// after the first `skip`: in order.
template <class Value>
__global__ void __launch_bounds__(block_threads, 2)
    trim_kernel(float* u, SelectionRoom room, DeviceOutput output, std::size_t elements) {
  __shared__ TileCounts shared;
  const unsigned lane = lane_of_warp();
  const unsigned lower = lanes_below();
  const std::uint32_t above_key = room.selection->above_key, band_key = room.selection->band_key;
  const unsigned long long skip = room.selection->skip, wanted = room.selection->rank;
  const unsigned long long listed = room.selection->listed;
  const std::uint32_t tiles =
      static_cast<std::uint32_t>((listed + tile_elements - 1) / tile_elements);
  for (std::uint32_t tile = next_tile(room.selection, shared); tile < tiles;
       tile = next_tile(room.selection, shared)) {
    const std::size_t first = first_in_tile(tile);
    unsigned above[rows], band[rows];
    unsigned long long found = 0;  // above in the high half, the band in the low one
#pragma unroll
    for (unsigned row = 0; row < rows; ++row) {
      const std::size_t i = first + row * 32;
      const std::uint32_t key = i < listed ? key_of_bits(room.bits[i]) : 0;
      above[row] = __ballot_sync(all_lanes, i < listed && key >= above_key);
      band[row] = __ballot_sync(all_lanes, i < listed && key >= band_key && key < above_key);
      found += (static_cast<unsigned long long>(__popc(above[row])) << 31) + __popc(band[row]);
    }
    const Place place = place_of(room.status, shared, found);
    unsigned long long before_above = place.begin >> 31, before_band = place.begin & 0x7fffffffull;
#pragma unroll
    for (unsigned row = 0; row < rows; ++row) {
      const unsigned long long my_above = before_above + __popc(above[row] & lower);
      const unsigned long long my_band = before_band + __popc(band[row] & lower);
      // So many of the band are sent before this one.
      const unsigned long long sent = my_band < skip            ? 0
                                      : my_band < skip + wanted ? my_band - skip
                                                                : wanted;
      const bool lucky =
          (band[row] >> lane & 1u) != 0 && my_band >= skip && my_band < skip + wanted;
      if ((above[row] >> lane & 1u) != 0 || lucky)
        send<Value>(u, room, first + row * 32, my_above + sent, output, elements);
      before_above += __popc(above[row]);
      before_band += __popc(band[row]);
    }
  }
}

}  // namespace

void Selector::sample_low_key(bool feedback, std::size_t k, const Draw& draw) const {
  const double mean = static_cast<double>(k) / static_cast<double>(input.elements) * sample_keys;
  const double rank = mean + 5 * std::sqrt(mean) + 5;
  if (input.elements < 2 * sample_keys || rank >= sample_keys) {
    cudaMemsetAsync(room.histogram, 0, 4 * bins, stream_of(stream));
    set_low_key(0);
    return;
  }
  with_gradient(input, [&]<class Value>(const Value* g) {
    launch(sample_kernel<Value>, sample_keys / 256, 256, stream, g, input.residual, input.elements,
           feedback, draw, room.sample);
  });
  cut_sample(static_cast<std::size_t>(rank));
}

void Selector::ensure_collected(std::size_t k) const {
  launch(judge_collected, 1, 1, stream, room.selection, k);
  choose_digits<Keys::tensor>(*this, 1, k, Use::low_key, true);
  collect(true);
}

void Selector::cut_sample(std::size_t k) const {
  cudaMemsetAsync(room.histogram, 0, 4 * bins, stream_of(stream));
  choose_digits<Keys::sample>(*this, 3, k, Use::low_key, false);
}

void Selector::take_bin_of(std::size_t k) const {
  launch(choose_kernel, 1, 1024, stream, room, 20, bins, k, Use::low_key, false);
}

void Selector::cut_list(std::size_t k) const {
  choose_digits<Keys::list>(*this, 3, k, Use::none, false);
}

void Selector::write_band() const {
  begin_look_back();
  const auto kernel = input.halves != nullptr ? trim_kernel<Half> : trim_kernel<float>;
  launch(kernel, persistent_blocks(), block_threads, stream, input.residual, room, output,
         input.elements);
}

void Selector::write_largest(std::size_t k) const {
  choose_digits<Keys::list>(*this, 3, k, Use::largest, false);
  write_band();
  count_selected(k);
}

}  // namespace syncline

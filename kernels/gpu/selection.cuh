// Selections on a GPU: the passes that sparsifiers consist of, and their memory.
#pragma once

#include "kernels/gpu/device.cuh"
#include "kernels/gpu/selection_traffic.h"

namespace syncline {

// Results of a chain of selections, in device memory; counts never leave it.
struct Selection {
  std::uint32_t low_key;    // every collected key reaches it
  std::uint32_t cut_key;    // the k-th largest key, digit by digit
  std::uint32_t fallback;   // 1: the sample misled, so collect again
  std::uint64_t rank;       // the rest of k within the digits chosen so far
  std::uint64_t listed;     // number of collected elements
  std::uint32_t above_key;  // every list entry that reaches it is sent
  std::uint32_t band_key;   // from here to above_key, `rank` in a row are sent after `skip`
  std::uint64_t skip;
  std::uint64_t selected;  // number of elements sent
  Moments moments;
  double threshold;
  unsigned long long counts[8];
};

// The parts of a selection's workspace.
struct SelectionRoom {
  Selection* selection = nullptr;
  std::uint32_t* list = nullptr;         // indices collected, ascending
  std::uint32_t* bits = nullptr;         // values there: gathering costs a sector each
  unsigned* ticket = nullptr;            // next tile of a look-back pass
  unsigned long long* status = nullptr;  // status of its tiles, a sector after the ticket
  std::size_t look_back_bytes = 0;       // of both
  unsigned* histogram = nullptr;         // 2048 counts, then blocks that added theirs; zeros
  std::uint32_t* sample = nullptr;       // keys
  std::size_t samples = 0;               // number of these keys
  Moments* tiles = nullptr;              // one per tile
};

std::size_t selection_bytes(std::size_t elements);

// The selections of one encoding, enqueued on one stream.
struct Selector {
  DeviceInput input;
  DeviceOutput output;
  SelectionRoom room;
  std::byte* beside = nullptr;  // workspace after the selection's own
  void* stream = nullptr;

  // Prepares a look-back pass: no tile has published, and the first tile is next. Setting low_key
  // and cutting do this, too.
  void begin_look_back() const;
  // Prepares the first count: a histogram of zeros.
  void begin_counts() const;
  // u = g + e for the tensor, and the list of what reaches selection->low_key, in one pass. Needs a
  // prepared look-back.
  void add_and_collect(bool feedback) const;
  // Only the list, from the residual.
  void collect() const;
  // Everything collected from now on reaches `key`. Also prepares counting.
  void set_low_key(std::uint32_t key) const;
  // Sets low_key from a sample of g + e, or to 1 for small tensors: zeros are never listed.
  void sample_low_key(bool feedback, std::size_t k, const Draw& draw) const;
  // If fewer than k were collected, and not all non-zeros: sets low_key from a histogram of
  // everything, and collects again.
  void ensure_collected(std::size_t k) const;
  void collect_where_misled() const;  // a step of ensure_collected
  // Set cut_key to the key of rank k of the sample (it also becomes low_key) or of the list, and
  // `rank` to how many keys equal to it belong to the k.
  void cut_sample(std::size_t k) const;
  void cut_list(std::size_t k) const;
  // Writes what above_key, band_key, skip and rank select from the list, and subtracts it. k > 0:
  // the number sent, which is reported to the host; a list with fewer than k entries holds all
  // non-zeros, and the first zeros are sent, too. Needs a prepared look-back.
  void write_band(std::uint64_t k = 0) const;
  // Writes the k largest of the list, or all of it and the first zeros, ties by smallest index, and
  // subtracts them from the residual.
  void write_largest(std::size_t k) const;
  // Writes the whole list, and reports its length to the host.
  void write_list() const;
  // u = g + e and its moments, into selection->moments. Without a residual: only the moments of g.
  void add_and_sum(bool feedback) const;
  // The same, with a histogram of the magnitudes, in one pass.
  void add_sum_and_count(bool feedback) const;
  // Sets low_key to the lower edge of the histogram bin that holds rank k; clears the histogram.
  void take_bin_of(std::size_t k) const;
};

Selector selector_in(void* workspace, const DeviceInput& input, const DeviceOutput& output,
                     void* stream);

// Indices in one half, values in the other: a sparse message holds at most every element.
inline std::size_t sparse_room(const Settings&, std::size_t elements) {
  return 8 * elements;
}

inline std::vector<MessagePart> sparse_parts(const Settings&, std::size_t elements,
                                             Precision precision, std::uint64_t selected) {
  return {{0, 4 * selected}, {4 * elements, value_bytes(precision) * selected}};
}

// Adds messages of pairs whose values are of type Value (sparse_sum.cu).
template <class Value>
void decode_sparse(const Settings&, const DeviceMessages&, const Draw&, float* sum,
                   std::size_t elements, void* workspace, void* stream);

// The CUDA version of a sparsifier that needs only a selection's workspace.
DeviceCompressor sparsifier_on_device(const std::string& name,
                                      void (*encode)(const Settings&, const Draw&, const Selector&),
                                      decltype(DeviceCompressor::prepare) prepare = {});

}  // namespace syncline

// Selections on a GPU: the passes that the sparsifiers are made of, and the memory they work in.
#pragma once

#include "kernels/gpu/device.cuh"
#include "kernels/gpu/selection_traffic.h"

namespace syncline {

// Device memory that a chain of selections works in. All counts stay there.
struct Selection {
  std::uint32_t low_key;    // everything collected reaches it
  std::uint32_t cut_key;    // the k-th largest key, digit by digit
  std::uint32_t fallback;   // 1: the sample misled, collect again
  std::uint64_t rank;       // what is left of k inside the digits chosen so far
  std::uint64_t listed;     // collected
  std::uint32_t above_key;  // all of the list that reach it are sent
  std::uint32_t band_key;   // and, from here to there, `rank` in a row after the first `skip`
  std::uint64_t skip;
  std::uint64_t selected;  // sent
  Moments moments;
  double threshold;
  unsigned long long counts[8];
};

// The parts of a selection's workspace lie here.
struct SelectionRoom {
  Selection* selection = nullptr;
  std::uint32_t* list = nullptr;         // indices collected, ascending
  std::uint32_t* bits = nullptr;         // and the values there: gathering them costs a sector each
  unsigned* ticket = nullptr;            // the next tile of a look-back pass
  unsigned long long* status = nullptr;  // of its tiles, a sector behind the ticket
  std::size_t look_back_bytes = 0;       // of both
  unsigned* histogram = nullptr;         // 2048 counts, and of blocks that have added theirs: zeros
  std::uint32_t* sample = nullptr;       // keys
  std::size_t samples = 0;               // how many
  Moments* tiles = nullptr;              // one per tile
};

std::size_t selection_bytes(std::size_t elements);

// One encoding's selections, enqueued on one stream.
struct Selector {
  DeviceInput input;
  DeviceOutput output;
  SelectionRoom room;
  std::byte* beside = nullptr;  // the workspace behind a selection's own
  void* stream = nullptr;

  // Makes ready for a look-back pass: no tile has said anything, and the first one is next. What
  // sets low_key or cuts does so, too.
  void begin_look_back() const;
  // Makes ready for the first counting: a histogram of zeros.
  void begin_counts() const;
  // u = g + e for the tensor, and the list of what reaches selection->low_key, in one pass. For a
  // look-back that is ready.
  void add_and_collect(bool feedback) const;
  // Only the list, of what is in the residual.
  void collect() const;
  // Everything collected from now on reaches `key`. Makes ready for counting, too.
  void set_low_key(std::uint32_t key) const;
  // low_key from a sample of g + e, or 1 for small tensors: zeros are never listed.
  void sample_low_key(bool feedback, std::size_t k, const Draw& draw) const;
  // If fewer than k were collected, and not all that is not zero: low_key from a histogram of
  // everything, and collect again.
  void ensure_collected(std::size_t k) const;
  void collect_where_misled() const;  // a part of that
  // cut_key: the key of rank k of the sample (which becomes low_key), or of the list; rank: how
  // many that equal it.
  void cut_sample(std::size_t k) const;
  void cut_list(std::size_t k) const;
  // Writes what selection->above_key, band_key, skip and rank say of the list, and takes it off.
  // Not 0: they are k, which the host is told; a list of fewer is of all that is not zero, and the
  // first zeros are sent, too. For a look-back that is ready.
  void write_band(std::uint64_t k = 0) const;
  // Writes the k largest of the list, or all of it and the first zeros, ties by smallest index, and
  // takes them off the residual.
  void write_largest(std::size_t k) const;
  // Writes the whole list, and tells the host how many that are.
  void write_list() const;
  // u = g + e and its moments, into selection->moments. Without a residual: only the moments of g.
  void add_and_sum(bool feedback) const;
  // Makes the histogram of the magnitudes as well, in one pass.
  void add_sum_and_count(bool feedback) const;
  // low_key: the lower edge of the histogram's bin that holds rank k; uses the histogram up.
  void take_bin_of(std::size_t k) const;
};

Selector selector_in(void* workspace, const DeviceInput& input, const DeviceOutput& output,
                     void* stream);

// Indices and values, each half of it: a sparse message cannot hold more than every element.
inline std::size_t sparse_room(const Settings&, std::size_t elements) {
  return 8 * elements;
}

inline std::vector<MessagePart> sparse_parts(const Settings&, std::size_t elements,
                                             Precision precision, std::uint64_t selected) {
  return {{0, 4 * selected}, {4 * elements, value_bytes(precision) * selected}};
}

// Adds messages of pairs whose values have this type (sparse_sum.cu).
template <class Value>
void decode_sparse(const Settings&, const DeviceMessages&, const Draw&, float* sum,
                   std::size_t elements, void* workspace, void* stream);

// The CUDA version of a sparsifier that needs nothing beside a selection's workspace.
DeviceCompressor sparsifier_on_device(const std::string& name,
                                      void (*encode)(const Settings&, const Draw&, const Selector&),
                                      decltype(DeviceCompressor::prepare) prepare = {});

}  // namespace syncline

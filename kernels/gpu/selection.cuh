// Selections on a GPU: the passes that the sparsifiers are made of, and the memory they work in.
#pragma once

#include "kernels/gpu/device.cuh"

namespace syncline {

// Device memory that a chain of selections works in. All counts stay there.
struct Selection {
  std::uint32_t low_key;    // everything collected reaches it
  std::uint32_t cut_key;    // the k-th largest key, digit by digit
  std::uint32_t fallback;   // 1: the sample misled, collect again
  std::uint32_t ticket;     // the next tile of a look-back pass
  std::uint64_t rank;       // what is left of k inside the digits chosen so far
  std::uint64_t listed;     // collected
  std::uint32_t above_key;  // all of the list that reach it are sent
  std::uint32_t band_key;   // and, from here to there, `rank` in a row after the first `skip`
  std::uint64_t skip;
  std::uint64_t listed_sent;  // what is sent of the list
  std::uint64_t selected;     // sent
  Moments moments;
  double threshold;
  unsigned long long counts[8];
};

// The parts of a selection's workspace lie here.
struct SelectionRoom {
  Selection* selection = nullptr;
  std::uint32_t* list = nullptr;         // indices collected, ascending
  std::uint32_t* bits = nullptr;         // and the values there: gathering them costs a sector each
  unsigned long long* status = nullptr;  // of the tiles of a look-back pass
  unsigned* histogram = nullptr;         // 2048 counts, zero between uses
  std::uint32_t* sample = nullptr;       // keys
  std::size_t samples = 0;               // how many
  Moments* tiles = nullptr;              // one per tile
};

inline constexpr std::size_t sample_strata = std::size_t{1} << 13, sample_neighbours = 8;
inline constexpr std::size_t sample_keys = sample_strata * sample_neighbours;

std::size_t selection_bytes(std::size_t elements);
SelectionRoom selection_room(void* workspace, std::size_t elements);

// Makes ready for a look-back pass: no tile has said anything, and the first one is next.
inline void begin_look_back(const SelectionRoom& room, std::size_t tiles, void* stream) {
  cudaMemsetAsync(room.status, 0, tiles * sizeof *room.status, stream_of(stream));
  cudaMemsetAsync(&room.selection->ticket, 0, sizeof room.selection->ticket, stream_of(stream));
}

// u = g + e for the tensor, and the list of what reaches selection->low_key, in one pass.
void add_and_collect(const DeviceInput& input, bool feedback, const SelectionRoom& room,
                     void* stream);
// Only the list, of what is in the residual; with `only_fallback`, only if the flag is up.
void collect(const DeviceInput& input, bool only_fallback, const SelectionRoom& room, void* stream);
// Everything collected from now on reaches `key`.
void set_low_key(const SelectionRoom& room, std::uint32_t key, void* stream);
// low_key from a sample of g + e, or 0 for small tensors.
void sample_low_key(const DeviceInput& input, bool feedback, std::size_t k, const Draw& draw,
                    const SelectionRoom& room, void* stream);
// If fewer than k were collected: low_key from a histogram of everything, and collect again.
void ensure_collected(const DeviceInput& input, std::size_t k, const SelectionRoom& room,
                      void* stream);
// cut_key: the key of rank k of the sample (which becomes low_key), or of the list; rank: how many
// that equal it.
void cut_sample(const DeviceInput& input, std::size_t k, const SelectionRoom& room, void* stream);
void cut_list(const DeviceInput& input, std::size_t k, const SelectionRoom& room, void* stream);
// Writes what selection->above_key, band_key, skip and rank say of the list, and takes it off.
void write_band(const DeviceInput& input, const SelectionRoom& room, const DeviceOutput& output,
                std::size_t message_room, void* stream);
// Writes the k largest of the list, ties by smallest index, and takes them off the residual.
void write_largest(const DeviceInput& input, std::size_t k, const SelectionRoom& room,
                   const DeviceOutput& output, std::size_t message_room, void* stream);
// Tells the host how many were sent: what was listed, or `most` of it.
void count_selected(const SelectionRoom& room, const DeviceOutput& output, std::size_t most,
                    void* stream);
// Writes the whole list.
void write_list(const DeviceInput& input, const SelectionRoom& room, const DeviceOutput& output,
                std::size_t message_room, void* stream);
// u = g + e and its moments, into selection->moments. Without a residual: only the moments of g.
void add_and_sum(const DeviceInput& input, bool feedback, const SelectionRoom& room, void* stream);
// Makes the histogram of the magnitudes as well, in one pass.
void add_sum_and_count(const DeviceInput& input, bool feedback, const SelectionRoom& room,
                       void* stream);
// low_key: the lower edge of the histogram's bin that holds rank k; uses the histogram up.
void take_bin_of(std::size_t k, const SelectionRoom& room, void* stream);

// Indices and values, each half of it: a sparse message cannot hold more than every element.
inline std::size_t sparse_room(const Settings&, std::size_t elements) {
  return 8 * elements;
}

inline std::vector<MessagePart> sparse_parts(const Settings&, std::size_t elements,
                                             Precision precision, std::uint64_t selected) {
  return {{0, 4 * selected}, {4 * elements, value_bytes(precision) * selected}};
}

// The CUDA version of a sparsifier that needs nothing beside a selection's workspace.
DeviceCompressor sparsifier_on_device(const std::string& name,
                                      decltype(DeviceCompressor::encode) encode);

}  // namespace syncline

// What selections on a GPU move (traffic.h says how that is counted): the methods of Selector, in
// selection.cuh, under the same names. A chain is written here as it is written there.
#pragma once

#include "kernels/arithmetic/keys.h"
#include "kernels/arithmetic/order.h"
#include "kernels/traffic.h"

namespace syncline {

inline constexpr std::size_t sample_strata = std::size_t{1} << 13, sample_neighbours = 8;
inline constexpr std::size_t sample_keys = sample_strata * sample_neighbours;

// What look-backs and counting must find cleared: a ticket in a sector of its own and a status per
// tile; a histogram and, in a sector of its own, the number of blocks that have added to it.
constexpr std::size_t look_back_bytes(std::size_t tiles) {
  return 32 + 8 * tiles;
}
inline constexpr std::size_t counts_bytes = 4 * bins + 32;

// Of so many values of a normal distribution: whose magnitude reaches this, and at which magnitude
// `count` do.
Amount reaching(double magnitude, std::size_t elements);
double magnitude_of_rank(double count, std::size_t elements);

// Sums of tiles, `bytes` each, are added in groups; and what then reads those of all groups.
StreamOperation groups_added(std::size_t tiles, double bytes);
Amount sums_of_groups(std::size_t tiles, double bytes);

// Looks at so many neighbours that begin anywhere in each of `strata` equal parts of the elements.
Amount sampled(std::size_t strata, std::size_t neighbours, std::size_t elements);

class SelectionTraffic {
 public:
  StreamOperations operations = {};  // so far
  Amount listed = {};                // as Selection has it

  explicit SelectionTraffic(std::size_t elements) : elements_(elements) {}
  // One operation that is none of those below.
  void enqueue(const std::string& name, const Amount& read, const Amount& written);
  void begin_look_back();
  void begin_counts();
  void add_and_collect(bool feedback, const Amount& found);
  void collect(const Amount& found);
  void set_low_key();
  // Returns how many reach it.
  Amount sample_low_key(bool feedback, std::size_t k);
  void ensure_collected();
  void cut_sample(std::size_t samples);
  void cut_list();
  void write_band(const Amount& sent, bool told = false);  // told: the host
  void write_largest(std::size_t k);
  void write_list();
  // `summed`: u is written, too.
  void add_and_sum(bool feedback, bool summed = true);
  void add_sum_and_count(bool feedback);
  // Returns how many are in that bin or above.
  Amount take_bin_of(std::size_t k);

 private:
  std::size_t elements_;

  double tensor() const;  // its bytes
  void list(const Amount& values_read, double values_written, const Amount& found);
  void choose_digits(const Amount& keys, bool for_certain, double more_at_end);
  void add_up(const Amount& read, const Amount& written);
};

// Whether pairs are so many that a kernel walks along the whole sum: that moves 8 bytes for each
// element, and reaching for one takes as long as moving some 128 (measured on an H100).
constexpr bool sweeps(std::size_t pairs, std::size_t elements) {
  return 16 * pairs >= elements;
}

// How many tiles a block of that kernel has, one after the other; an H100 runs so many at once.
inline constexpr std::size_t sweeping_blocks = 792;
constexpr std::size_t tiles_of_block(std::size_t tiles, std::size_t blocks) {
  return (tiles - 1) / blocks + 1;
}

// Adding messages of `count` pairs of index and value each into a sum. The places of one message
// say nothing of another's.
StreamOperations sparse_sum(const Amount& count, std::size_t elements, double bytes_each,
                            std::size_t messages);
// Adding messages that have something for every element, whose decoding takes so many instructions
// for each (counted in the code, address and load shared by four elements).
StreamOperations dense_sum(std::size_t message_bytes, std::size_t elements, std::size_t messages,
                           double instructions);

}  // namespace syncline

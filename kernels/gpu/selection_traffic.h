// What selections on a GPU move (traffic.h says how this is counted). The methods have the names of
// those of Selector in selection.cuh, so that a chain is written here as it is there.
#pragma once

#include "kernels/arithmetic/keys.h"
#include "kernels/arithmetic/order.h"
#include "kernels/traffic.h"

namespace syncline {

inline constexpr std::size_t sample_strata = std::size_t{1} << 13, sample_neighbours = 8;
inline constexpr std::size_t sample_keys = sample_strata * sample_neighbours;

// What must be zero before look-backs and counting: a ticket in a sector of its own and a status
// per tile; a histogram and, in a sector of its own, the number of blocks that have added to it.
constexpr std::size_t look_back_bytes(std::size_t tiles) {
  return 32 + 8 * tiles;
}
inline constexpr std::size_t counts_bytes = 4 * bins + 32;

// For `elements` values of a normal distribution: how many reach a magnitude, and the magnitude
// that `count` of them reach.
Amount reaching(double magnitude, std::size_t elements);
double magnitude_of_rank(double count, std::size_t elements);

// The kernel that adds sums of tiles, `bytes` each, in groups; and the bytes of reading the sums of
// all groups.
StreamOperation groups_added(std::size_t tiles, double bytes);
Amount sums_of_groups(std::size_t tiles, double bytes);

// Reads of `neighbours` elements each, which begin anywhere in each of `strata` equal parts.
Amount sampled(std::size_t strata, std::size_t neighbours, std::size_t elements);

class SelectionTraffic {
 public:
  StreamOperations operations = {};  // so far
  Amount listed = {};                // as Selection::listed

  explicit SelectionTraffic(std::size_t elements) : elements_(elements) {}
  // One operation without a method of its own below.
  void enqueue(const std::string& name, const Amount& read, const Amount& written, double slots = 0,
               double waits = 0);
  void begin_look_back();
  void begin_counts();
  void add_and_collect(bool feedback, const Amount& found);
  void collect(const Amount& found);
  void set_low_key();
  // Returns how many elements reach the key.
  Amount sample_low_key(bool feedback, std::size_t k);
  void ensure_collected();
  void cut_sample(std::size_t samples);
  void cut_list();
  void write_band(const Amount& sent, bool told = false);  // told: reports to the host
  void write_largest(std::size_t k);
  void write_list();
  // `summed`: u is also written.
  void add_and_sum(bool feedback, bool summed = true);
  void add_sum_and_count(bool feedback);
  // Returns how many elements are in that bin or above.
  Amount take_bin_of(std::size_t k);

 private:
  std::size_t elements_;

  double tensor() const;  // its bytes
  void list(const Amount& values_read, double values_written, const Amount& found);
  void choose_digits(const Amount& keys, bool for_certain, double more_at_end);
  void add_up(const Amount& read, const Amount& written);
};

// Slots per element of a pass that lists, by tickets and a look-back; waits of a kernel that counts
// digits and chooses one.
inline constexpr double listing_slots = 90, digit_waits = 8;

// Whether there are enough pairs for a kernel that sweeps the whole sum. A sweep moves 8 bytes per
// element; reading one pair's element takes as long as moving some 128 bytes (measured on an H100).
constexpr bool sweeps(std::size_t pairs, std::size_t elements) {
  return 16 * pairs >= elements;
}

// Tiles that each block of the sweep takes in turn; an H100 runs sweeping_blocks blocks at once.
inline constexpr std::size_t sweeping_blocks = 792;
constexpr std::size_t tiles_of_block(std::size_t tiles, std::size_t blocks) {
  return (tiles - 1) / blocks + 1;
}

// Adds messages of `count` index-value pairs each into a sum. Places of one message are independent
// of another's.
StreamOperations sparse_sum(const Amount& count, std::size_t elements, double bytes_each,
                            std::size_t messages);
// Adds messages that have a value for every element, whose decoding takes `slots` per element.
StreamOperations dense_sum(std::size_t message_bytes, std::size_t elements, std::size_t messages,
                           double slots);

}  // namespace syncline

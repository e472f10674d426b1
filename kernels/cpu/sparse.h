// Shared by the sparsifiers: finding every element whose magnitude reaches a threshold, and their
// message: k indices (u32, ascending), then k values (fp32, or fp16 for fp16 gradients). 8 bytes
// per element sent, as in the published codes: two all-gathers, of fp32 and of int32.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "kernels/arithmetic/keys.h"
#include "kernels/arithmetic/lanes.h"
#include "kernels/compressor.h"
#include "kernels/cpu/feedback.h"
#include "kernels/cpu/tiles.h"
#include "kernels/gpu/selection_traffic.h"

namespace syncline {

// Distance between the picks of neighbouring tiles. At exactly 32 KiB the first few picks of all
// tiles would share the same few sets of a cache.
inline constexpr std::size_t picks_stride = tile_elements + 5 * lane_width;

// Indices chosen tile by tile, ascending, and copies of their values, as bits, so that later steps
// need not read u again. Those of tile t begin at [t * picks_stride]; there are counts[t].
struct Picks {
  std::uint32_t* words = nullptr;
  std::uint32_t* bits = nullptr;
  std::vector<std::uint32_t> counts;
  // Picks with a key above this are sent for certain, and the pass that listed them has already
  // subtracted them from u (fp32 only, where the difference is 0). no_key: none.
  std::uint32_t gone_above = no_key;

  std::size_t total() const {
    return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  }
  std::span<std::uint32_t> tile(std::size_t t) const {
    return {words + t * picks_stride, counts[t]};
  }
  std::span<std::uint32_t> values(std::size_t t) const {
    return {bits + t * picks_stride, counts[t]};
  }
  // Keeps the picks of tile t for whose key stays(key) is true.
  template <class Stays>
  void leave(std::size_t t, const Stays& stays) {
    const std::span<std::uint32_t> indices = tile(t), copies = values(t);
    std::uint32_t kept = 0;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const bool here = stays(key_of_bits(copies[i]));
      indices[kept] = indices[i];
      copies[kept] = copies[i];
      kept += here ? 1u : 0u;
    }
    counts[t] = kept;
  }
};

// Tiles of picks per task: one tile is little work, and the counts of neighbours share a cache
// line.
inline constexpr std::size_t tiles_together = 32;

inline std::size_t groups_of(const Picks& picks) {
  return (picks.counts.size() + tiles_together - 1) / tiles_together;
}

// Runs work(group, its first tile, the tile after its last).
template <class Work>
void for_each_group_of(const Picks& picks, const Work& work) {
  run_in_parallel(groups_of(picks), [&](std::size_t group) {
    const std::size_t begin = group * tiles_together;
    work(group, begin, std::min(picks.counts.size(), begin + tiles_together));
  });
}

template <class Work>
void for_each_tile_of(const Picks& picks, const Work& work) {
  for_each_group_of(picks, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t)
      work(t);
  });
}

// Room for the picks of n elements. Throws if an index would not fit into the message.
Picks room_for_picks(std::size_t elements, Scratch& scratch);

// Lists those of `count` values whose key reaches the threshold: their indices, counted from
// `first`, and their bits. Returns their number. May overwrite up to a vector after them.
std::uint32_t list_reaching(std::uint32_t threshold, const float* u, std::size_t count,
                            std::uint32_t first, std::uint32_t* indices, std::uint32_t* values);

// Picks the elements of one tile with key >= threshold.
void collect_tile(const float* u, std::size_t tile, std::size_t begin, std::size_t count,
                  std::uint32_t threshold, Picks& picks);

// Picks those of the whole tensor.
void collect(std::span<const float> u, std::uint32_t threshold, Picks& picks);

// The keys of all picks.
std::vector<std::uint32_t> keys_of(const Picks& picks);

// Drops the picks whose key is below the threshold: a higher threshold needs no new pass.
void raise(std::uint32_t threshold, Picks& picks);

// Adds the gradient into state.residual and picks what reaches the threshold, in one pass. Sets
// elements above `gone_above` to 0 at once.
Picks add_and_collect(const Gradient& gradient, bool feedback, std::uint32_t threshold,
                      State& state, std::uint32_t gone_above = no_key);

// Undoes that: restores the picked values in u.
void put_back(std::span<float> u, Picks& picks);

// Writes the message of these picks and subtracts what is sent from u (see sent_off).
void write_sparse(const Picks& picks, Precision precision, std::span<float> u, Message& message);

// The reference version, from a plain list of ascending indices.
void write_sparse_plainly(const std::vector<std::uint32_t>& chosen, Precision precision,
                          std::span<float> u, Message& message);

void decode_sparse(const Settings&, MessageBytes message, Precision precision, const Draw&,
                   std::span<float> sum);

// The same for several messages, strip by strip of the sum, which is then read from memory once.
void decode_sparse_together(const Settings&, const Messages& messages, Precision precision,
                            const Draw&, std::span<float> sum);

// The indices for which `holds` is true, ascending.
template <class Holds>
std::vector<std::uint32_t> indices_where(std::size_t elements, const Holds& holds) {
  std::vector<std::uint32_t> indices;
  for (std::size_t i = 0; i < elements; ++i)
    if (holds(i))
      indices.push_back(static_cast<std::uint32_t>(i));
  return indices;
}

// The reference encoder of a sparsifier: `choose` lists what to send of u in state.residual.
template <auto choose>
void encode_chosen(const Settings& settings, const Gradient& gradient, const Draw& draw,
                   State& state, Message& message) {
  add_plainly(gradient, with_feedback(settings), state);
  write_sparse_plainly(choose(settings, draw, state), gradient.precision(), state.residual,
                       message);
}

// The fast encoder: `pick` adds the gradient and picks what to send.
template <auto pick>
void encode_picked(const Settings& settings, const Gradient& gradient, const Draw& draw,
                   State& state, Message& message) {
  const Picks picks = pick(settings, gradient, draw, state);
  write_sparse(picks, gradient.precision(), state.residual, message);
}

constexpr double sparse_bytes(std::size_t selected, Precision precision) {
  return static_cast<double>(selected * (4 + value_bytes(precision)));
}

inline OwnOption density_option() {
  return number(density_name, "share of the elements that is sent", "0.001", 0, 1);
}

// Message bytes of methods that send exactly `density` of the elements, and of those that aim at it
// and send k - k / part to k + k / part elements.
inline WireSize bytes_at_density(const Settings& settings, std::size_t elements,
                                 Precision precision) {
  return {sparse_bytes(wanted(density_of(settings), elements), precision), true};
}

template <std::size_t part>
WireSize bytes_near_density(const Settings& settings, std::size_t elements, Precision precision) {
  const std::size_t k = wanted(density_of(settings), elements);
  return {sparse_bytes(k, precision), sparse_bytes(k - k / part, precision),
          sparse_bytes(std::min(k + k / part, elements), precision)};
}

// The k largest of d values leave out at most 1 - k/d of the squares, which is also the mean for k
// chosen at random (Stich, Cordonnier, Jaggi, NeurIPS 2018); (1 - k/d)^2 for bell-shaped values
// (Shi et al., arXiv 1911.08772).
inline Promise promise_of_largest(std::size_t k, std::size_t elements) {
  const double left_out = 1 - static_cast<double>(k) / static_cast<double>(elements);
  return {.values = static_cast<double>(k),
          .left_out = left_out,
          .left_out_of_a_bell = left_out * left_out};
}

inline Promise promise_at_density(const Settings& settings, std::size_t elements, std::size_t) {
  return promise_of_largest(wanted(density_of(settings), elements), elements);
}

// For methods that choose k anew for each message: the promise for the k that was sent.
inline Promise promise_of_sent(const Settings&, std::size_t elements, std::size_t sent) {
  return promise_of_largest(sent, elements);
}

// How many pairs methods of exactly `density` send, for modelled tables.
inline Amount pairs_at_density(const Settings& settings, std::size_t elements) {
  return wanted(density_of(settings), elements);
}

// Completes a compressor whose messages are pairs, and which may keep a residual. `choose` and
// `pick` are those of its encoders; `sent` says how many pairs it sends, for modelled tables.
template <auto choose, auto pick, auto sent>
Compressor sparsifier(Compressor own) {
  own.sparse = true;
  own.feedback = with_feedback;
  own.reference = {encode_chosen<choose>, one_by_one<decode_sparse>};
  own.cpu = {encode_picked<pick>, decode_sparse_together};
  own.traffic.decode = [](const Settings& settings, std::size_t elements, std::size_t messages) {
    return sparse_sum(sent(settings, elements), elements, 8, messages);
  };
  return own;
}

}  // namespace syncline

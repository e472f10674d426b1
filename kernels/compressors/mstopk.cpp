// MSTopK (Shi, Zhou, Song et al., "Towards Scalable Distributed Training of Deep Learning on Public
// Cloud Clusters", MLSys 2021): bisect a threshold between the mean and the largest magnitude for a
// fixed number of rounds; send everything above the last threshold that let through at most k, and
// fill up to exactly k with consecutive elements, from a random offset, of the band down to the
// last threshold that let through more.
//
// The published version counts the whole tensor in every round. A count is only ever compared with
// k, and count(t) <= k exactly when t is above the (k+1)-th largest magnitude: the fast version
// finds that magnitude exactly, and each round is then one comparison.
#include "kernels/compressors/mstopk.h"

#include <cmath>
#include <numbers>

#include "kernels/cpu/select.h"

namespace syncline {
namespace {

std::vector<std::uint32_t> choose(const Settings& settings, const Draw& draw, State& state) {
  const Values& u = state.residual;
  const std::size_t k = wanted(density_of(settings), u.size());
  if (k == 0)
    return {};
  const auto count = [&](std::uint32_t key) {
    return static_cast<std::size_t>(
        std::count_if(u.begin(), u.end(), [&](float x) { return magnitude_key(x) >= key; }));
  };
  const Band band = bisect(moments_of(u), static_cast<int>(settings.number("rounds")),
                           [&](std::uint32_t key) { return count(key) <= k; });
  const std::size_t room = k - count(band.above);
  const std::size_t first = random_offset(draw, count(band.from) - count(band.above), room);
  std::size_t seen = 0;
  return indices_where(u.size(), [&](std::size_t i) {
    const std::uint32_t key = magnitude_key(u[i]);
    if (key < band.from || key >= band.above)
      return key >= band.above;
    ++seen;
    return seen > first && seen <= first + room;
  });
}

// The key of rank k + 1, or 0 if there is none.
std::uint32_t next_key(std::span<const float> u, std::size_t k, const Draw& draw, Scratch& scratch,
                       Picks& picks) {
  if (k >= u.size())
    return 0;
  const auto look = [&](std::size_t first, std::uint32_t* keys) {
    put_keys(load(&u[first]), keys);
  };
  const std::uint32_t low = probable_bracket(u.size(), k + 1, draw, look, scratch).low;
  collect(u, low, picks);
  if (picks.total() <= k && low > 1)
    collect(u, std::max(1u, certain_key(u, k + 1)), picks);
  if (picks.total() <= k)  // the picks are all that is not zero
    return 0;
  std::vector<std::uint32_t> keys = keys_of(picks);
  return kth_largest(keys, k + 1).key;
}

// Keeps only the picks that are sent; all picks reach band.from.
void choose_in_band(const Band& band, std::size_t k, const Draw& draw, Picks& picks) {
  const std::size_t tiles = picks.counts.size();
  std::vector<std::size_t> above(tiles);
  for_each_tile_of(picks, [&](std::size_t t) {
    for (const std::uint32_t value : picks.values(t))
      above[t] += key_of_bits(value) >= band.above ? 1u : 0u;
  });
  const std::size_t sure = std::accumulate(above.begin(), above.end(), std::size_t{0});
  const std::size_t room = k - sure, first = random_offset(draw, picks.total() - sure, room);
  std::size_t seen = 0;
  for (std::size_t t = 0; t < tiles; ++t)
    picks.leave(t, [&](std::uint32_t key) {
      const bool in_band = key < band.above;
      const bool stays = !in_band || (seen >= first && seen < first + room);
      seen += in_band ? 1u : 0u;
      return stays;
    });
}

Picks pick(const Settings& settings, const Gradient& gradient, const Draw& draw, State& state) {
  const std::size_t n = gradient.elements(), k = wanted(density_of(settings), n);
  const Moments moments = add_and_sum(gradient, with_feedback(settings), state);
  Picks picks = room_for_picks(n, state.scratch);
  if (k > 0) {
    const std::uint32_t next = next_key(state.residual, k, draw, state.scratch, picks);
    const Band band = bisect(moments, static_cast<int>(settings.number("rounds")),
                             [&](std::uint32_t key) { return k >= n || key > next; });
    collect(state.residual, band.from, picks);
    choose_in_band(band, k, draw, picks);
  }
  return picks;
}

// Elements listed beyond the k: those in the last interval of the bisection.
Amount in_band(std::size_t k, int rounds, std::size_t elements) {
  const double cut = magnitude_of_rank(static_cast<double>(k), elements);
  const double top = magnitude_of_rank(0.5, elements), mean = std::sqrt(2 / std::numbers::pi);
  const double width = std::max(top - mean, mean) * std::ldexp(1, -rounds);
  const double more = reaching(std::max(0.0, cut - width), elements).mean - static_cast<double>(k);
  return {more / 2, more / 2 + 8};
}

// What mstopk.cu enqueues.
StreamOperations encode_traffic(const Settings& settings, std::size_t elements) {
  const std::size_t k = wanted(density_of(settings), elements);
  const int rounds = static_cast<int>(settings.number("rounds"));
  const double kept = static_cast<double>(k);
  SelectionTraffic moved(elements);
  moved.add_sum_and_count(with_feedback(settings));
  if (k == 0) {
    moved.set_low_key();
    moved.collect(0);
    moved.write_list();
    return moved.operations;
  }
  if (k < elements) {
    const Amount found = moved.take_bin_of(k + 1);
    moved.collect(found);
    moved.cut_list();
  }
  moved.enqueue("bisect_kernel", 3 * sector_bytes, 3 * sector_bytes);
  moved.collect(k < elements ? kept + in_band(k, rounds, elements) : Amount(kept));
  moved.enqueue("count_above_kernel", 3 * sector_bytes + sectors(4 * moved.listed), sector_bytes);
  moved.enqueue("offset_kernel", 2 * sector_bytes, 2 * sector_bytes);
  moved.begin_look_back();
  moved.write_band(kept, true);
  return moved.operations;
}

const Registered<Compressor> entry{sparsifier<choose, pick, pairs_at_density>({
    .name = "mstopk",
    .sentence = "exactly density x n elements, nearly the largest, by bisecting a threshold",
    .help = {.more = "Counting what is above a threshold suits a GPU better than sorting, and the "
                     "size of its message is fixed.",
             .paper = "Shi et al., MLSys 2021"},
    .options = {density_option(),
                whole_number("rounds", "halvings of the threshold's interval", "30", 1, 60),
                feedback_option("on")},
    .wire_bytes = bytes_at_density,
    .promise = promise_at_density,
    .traffic = {.encode = encode_traffic, .floor = 16.4, .published = {175, 70, 30}},
})};

}  // namespace
}  // namespace syncline

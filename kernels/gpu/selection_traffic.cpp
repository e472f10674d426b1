#include "kernels/gpu/selection_traffic.h"

#include <bit>
#include <numbers>

#include "kernels/arithmetic/keys.h"
#include "kernels/arithmetic/moments.h"
#include "kernels/arithmetic/normal.h"

namespace syncline {
namespace {

// The members of Selection that a kernel uses lie in one sector or two.
constexpr double one = sector_bytes, two = 2 * sector_bytes;
constexpr double histogram_bytes = 4 * bins;

// Sectors cleared for a look-back, and the status words of its tiles alone.
Amount cleared(std::size_t elements) {
  return sectors(look_back_bytes(tiles_of(elements)));
}
Amount states_of(std::size_t elements) {
  return sectors(8 * tiles_of(elements));
}

double octaves(double count) {  // roughly, the octaves that `count` normal values span
  return std::log2(std::max(count, 1.0)) + 3;
}

}  // namespace

Amount reaching(double magnitude, std::size_t elements) {
  const double n = static_cast<double>(elements);
  const double share = magnitude <= 0 ? 1 : std::erfc(magnitude / std::numbers::sqrt2);
  return {n * share, share == 1 ? 0 : 6 * std::sqrt(n * share * (1 - share)) + 3};
}

double magnitude_of_rank(double count, std::size_t elements) {
  return -normal_quantile(count / (2 * static_cast<double>(elements)));
}

StreamOperation groups_added(std::size_t tiles, double bytes) {
  return {"group_kernel", sectors(bytes * static_cast<double>(tiles)),
          sums_of_groups(tiles, bytes)};
}

Amount sums_of_groups(std::size_t tiles, double bytes) {
  const std::size_t groups = (tiles + group_tiles - 1) / group_tiles;
  return static_cast<double>(groups) * sectors(bytes);
}

Amount sampled(std::size_t strata, std::size_t neighbours, std::size_t elements) {
  const double parts = static_cast<double>(strata), cells = static_cast<double>(elements) / 8,
               stratum = static_cast<double>(elements) / parts,
               starts = static_cast<double>(neighbours + 7);  // that touch a sector
  if (stratum <= starts)                                      // nearly every sector is read
    return sector_bytes * between(cells * 0.8, cells);
  // Reads that cross the end of a stratum may share a sector with the neighbour's read.
  const double shared = (starts * starts * starts - starts) / (48 * stratum * stratum);
  return sector_bytes *
         Amount(parts * (starts / 8 - shared), parts * shared / 3 + 2 * std::sqrt(parts) + 1);
}

void SelectionTraffic::enqueue(const std::string& name, const Amount& read, const Amount& written,
                               double slots, double waits) {
  operations.push_back({name, read, written, slots, waits});
}

double SelectionTraffic::tensor() const {
  return sectors(4 * elements_).mean;
}

void SelectionTraffic::begin_look_back() {
  enqueue("memset of a look-back", 0, cleared(elements_));
}

void SelectionTraffic::begin_counts() {
  enqueue("memset of counts", 0, counts_bytes);
}

void SelectionTraffic::list(const Amount& values_read, double values_written, const Amount& found) {
  listed = found;
  enqueue("collect_kernel", values_read + states_of(elements_) + two,
          values_written + states_of(elements_) + two + 2 * sectors(4 * found),
          listing_slots * static_cast<double>(elements_));
}

void SelectionTraffic::add_and_collect(bool feedback, const Amount& found) {
  list((feedback ? 2 : 1) * tensor(), tensor(), found);
}

void SelectionTraffic::collect(const Amount& found) {
  begin_look_back();
  list(tensor(), 0, found);
}

void SelectionTraffic::set_low_key() {
  enqueue("low_key_kernel", 0, one + cleared(elements_) + counts_bytes);
}

Amount SelectionTraffic::sample_low_key(bool feedback, std::size_t k) {
  const double n = static_cast<double>(elements_);
  const double mean = static_cast<double>(k) / n * sample_keys;
  const double rank = mean + 5 * std::sqrt(mean) + 5;
  if (elements_ < 2 * sample_keys || rank >= sample_keys) {
    set_low_key();
    return n;
  }
  const Amount looks = sampled(sample_strata, sample_neighbours, elements_);
  enqueue("sample_kernel", (feedback ? 2 : 1) * looks, 4 * sample_keys + counts_bytes);
  cut_sample(sample_keys);
  const double share = std::floor(rank) / sample_keys;
  return {n * share, 6 * n * share / std::sqrt(rank) + 3};
}

void SelectionTraffic::ensure_collected() {
  enqueue("digit_kernel", one, one);
  enqueue("collect_kernel", one, 0);
}

void SelectionTraffic::choose_digits(const Amount& keys, bool for_certain, double more_at_end) {
  const Amount found = for_certain ? Amount(one) : between(0, one);  // sector of the rank's digit
  for (int round = 0; round < 3; ++round) {
    const double counts = round == 0 ? histogram_bytes : histogram_bytes / 2;
    enqueue("digit_kernel", keys + counts + two,
            (round == 0 ? cleared(elements_) + one : found) + counts + one +
                (round == 2 ? more_at_end : 0.0),
            0, digit_waits);
  }
}

void SelectionTraffic::cut_sample(std::size_t samples) {
  choose_digits(sectors(4 * samples), true, 0);
}

void SelectionTraffic::cut_list() {
  choose_digits(sectors(4 * listed), false, 0);
}

void SelectionTraffic::write_band(const Amount& sent, bool told) {
  const Amount states = listed.spread == 0
                            ? sectors(8 * tiles_of(static_cast<std::size_t>(listed.mean)))
                            : sectors((8.0 / tile_elements) * listed + 4.0);
  enqueue("trim_kernel", two + one + sectors(4 * listed) + states + scattered(sent, listed.mean),
          one + states + (told ? one : 0.0) + 2 * sectors(4 * sent) +
              scattered(sent, static_cast<double>(elements_)));
}

void SelectionTraffic::write_largest(std::size_t k) {
  choose_digits(sectors(4 * listed), true, one);
  write_band(static_cast<double>(k), true);
}

void SelectionTraffic::write_list() {
  enqueue("send_list_kernel", one + 2 * sectors(4 * listed),
          two + 2 * sectors(4 * listed) + scattered(listed, static_cast<double>(elements_)));
}

void SelectionTraffic::add_up(const Amount& read, const Amount& written) {
  const Amount sums = sectors(sizeof(Moments) * tiles_of(elements_));
  enqueue("stats_kernel", read, written + sums, 60 * static_cast<double>(elements_));
  operations.push_back(groups_added(tiles_of(elements_), sizeof(Moments)));
  enqueue("total_kernel", sums_of_groups(tiles_of(elements_), sizeof(Moments)), two);
}

void SelectionTraffic::add_and_sum(bool feedback, bool summed) {
  add_up((feedback ? 2 : 1) * tensor(), summed ? tensor() : 0.0);
}

void SelectionTraffic::add_sum_and_count(bool feedback) {
  begin_counts();
  const double touched = sector_bytes * octaves(static_cast<double>(elements_));
  const Amount counts{touched, 4 * sector_bytes};
  add_up((feedback ? 2 : 1) * tensor() + counts, tensor() + counts);
}

Amount SelectionTraffic::take_bin_of(std::size_t k) {
  enqueue("choose_kernel", histogram_bytes + one, histogram_bytes + one);
  const float cut = static_cast<float>(magnitude_of_rank(static_cast<double>(k), elements_));
  const std::uint32_t bin = bin_of(magnitude_key(cut));
  const auto reach = [&](std::uint32_t edge) {
    return reaching(std::bit_cast<float>(first_key(edge)), elements_);
  };
  // Near an edge of its bin, the k-th may lie in the neighbouring bin.
  const double below = reach(bin - 1).mean, here = reach(bin).mean, above = reach(bin + 1).mean;
  const double chance = reach(bin).spread;
  return {here, chance + (here - static_cast<double>(k) < chance    ? below - here
                          : static_cast<double>(k) - above < chance ? here - above
                                                                    : 0)};
}

StreamOperations sparse_sum(const Amount& count, std::size_t elements, double bytes_each,
                            std::size_t messages) {
  if (count.mean + count.spread <= 0)
    return {};
  const double n = static_cast<double>(elements), many = static_cast<double>(messages);
  Amount touched = count;
  if (messages > 1)
    touched = {n * (1 - std::pow(1 - std::min(count.mean / n, 1.0), many)), many * count.spread};
  const bool all =
      messages > 1 && sweeps(messages * static_cast<std::size_t>(count.mean), elements);
  Amount sum = all ? sectors(4 * elements) : scattered(touched, n);
  if (!all)  // each message fetches its sectors again
    sum.alone = many * scattered(count, n).alone;
  // Waits for a pair, then for its element; or for a barrier. Counted in the code.
  const double each =
      all ? 2 * static_cast<double>(tiles_of_block(tiles_of(elements), sweeping_blocks))
          : 2 * std::ceil(std::min(count.mean, 64.0) / 32);  // 64 pairs by 32
  return {{"scatter_kernel", many * sectors(bytes_each * count) + sum, sum, 0, (many - 1) * each}};
}

StreamOperations dense_sum(std::size_t message_bytes, std::size_t elements, std::size_t messages,
                           double slots) {
  const Amount sum = sectors(4 * elements);
  const double many = static_cast<double>(messages);
  return {{"sum", many * sectors(message_bytes) + sum, sum,
           many * slots * static_cast<double>(elements), many - 1}};
}

}  // namespace syncline

#include "sim/learning/measures.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "kernels/elementary.h"

namespace syncline {
namespace {

constexpr double bin_width = 0.25;  // standard deviations
constexpr int bins_aside = 24;      // bins on each side of the mean: up to 6 deviations
constexpr std::size_t bins = 2 * bins_aside + 2;

double edge(std::size_t bin) {  // the bin's lower edge
  return (static_cast<double>(bin) - bins_aside - 1) * bin_width;
}

double density(double x) {  // of the normal distribution
  return 0.3989422804014327 * steady_exp(-x * x / 2);
}

// The fraction of the normal distribution in each bin, by Simpson's rule.
std::array<double, bins> normal_shares() {
  std::array<double, bins> shares{};
  double beyond = 0.5;
  for (std::size_t bin = 1; bin + 1 < bins; ++bin) {
    constexpr int steps = 64;
    constexpr double step = bin_width / steps;
    double sum = density(edge(bin)) + density(edge(bin + 1));
    for (int i = 1; i < steps; ++i)
      sum += (i % 2 == 1 ? 4 : 2) * density(edge(bin) + i * step);
    shares[bin] = sum * step / 3;
    if (edge(bin) >= 0)
      beyond -= shares[bin];
  }
  shares.front() = shares.back() = beyond;
  return shares;
}

}  // namespace

void Measures::Optional::add(const Optional& other) {
  messages += other.messages;
  sum += other.sum;
}

Measures::Sums::Sums(const MeasuredMessage& message)
    : messages(1),
      values(static_cast<double>(message.values)),
      sent(static_cast<double>(message.sent)),
      empty(message.sent == 0 ? 1 : 0),
      left_out(message.left_out),
      bits_per_value(8 * static_cast<double>(message.bytes) / values),
      least_sent(sent),
      most_sent(sent),
      target(message.promise.values),
      left_out_bound(message.promise.left_out),
      left_out_bound_squared(message.promise.left_out_of_a_bell),
      bits_bound(message.promise.bits ? std::optional(*message.promise.bits / values)
                                      : std::nullopt) {}

void Measures::Sums::add(const Sums& other) {
  least_sent = messages == 0 ? other.least_sent : std::min(least_sent, other.least_sent);
  most_sent = std::max(most_sent, other.most_sent);
  messages += other.messages;
  values += other.values;
  sent += other.sent;
  empty += other.empty;
  left_out += other.left_out;
  bits_per_value += other.bits_per_value;
  target.add(other.target);
  left_out_bound.add(other.left_out_bound);
  left_out_bound_squared.add(other.left_out_bound_squared);
  bits_bound.add(other.bits_bound);
}

Compressed Measures::Sums::means() const {
  if (messages == 0)
    return {};
  const auto count = static_cast<double>(messages);
  const auto mean = [&](const Optional& of) {
    return of.messages == messages ? std::optional(of.sum / count) : std::nullopt;
  };
  return {.messages = messages,
          .values = values / count,
          .sent_values = sent / count,
          .empty = empty / count,
          .least_sent_values = least_sent,
          .most_sent_values = most_sent,
          .left_out = left_out / count,
          .bits_per_value = bits_per_value / count,
          .target_values = mean(target),
          .left_out_bound = mean(left_out_bound),
          .left_out_bound_squared = mean(left_out_bound_squared),
          .bits_bound = mean(bits_bound)};
}

void Measures::add(int iteration, const MeasuredMessage& message) {
  const Sums one(message);
  all_.add(one);
  rows_[iteration / iterations_in_row_ * iterations_in_row_].add(one);
  if (rows_.size() <= most_rows)
    return;
  iterations_in_row_ *= 2;
  std::map<int, Sums> joined;
  for (const auto& [first, sums] : rows_)
    joined[first / iterations_in_row_ * iterations_in_row_].add(sums);
  rows_ = std::move(joined);
}

bool Measures::watches(int rank, int iteration) {
  if (rank != watched_)
    return false;
  if (iteration != last_watched_) {
    last_watched_ = iteration;
    if (compressed_ == 0 || std::has_single_bit(static_cast<std::uint64_t>(compressed_)))
      histograms_[iteration];
    ++compressed_;
  }
  return histograms_.contains(iteration);
}

void Measures::watch(int iteration, std::span<const float> values) {
  static const std::array<double, bins> normal = normal_shares();
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const float value : values) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  const double mean = sum / count;
  double spread = 0;  // computed in a separate pass: the mean may be far from zero
  for (const float value : values)
    spread += (value - mean) * (value - mean);
  const double deviation = std::sqrt(spread / count);
  if (!(deviation > 0) || !std::isfinite(deviation))
    return;  // all values are equal: no shape
  Histogram& histogram = histograms_[iteration];
  histogram.bins.resize(bins);
  histogram.values += count;
  histogram.squares += squares;
  for (const float value : values) {
    const double place = std::floor((value - mean) / deviation / bin_width) + bins_aside + 1;
    Bin& bin = histogram.bins[static_cast<std::size_t>(std::clamp(place, 0.0, bins - 1.0))];
    bin.values += 1;
    bin.squares += static_cast<double>(value) * value;
  }
  for (std::size_t bin = 0; bin < bins; ++bin) {
    // Integrals of x and of x^2 over the bin; the terms at an open end are 0.
    const double low = bin == 0 ? 0 : density(edge(bin));
    const double high = bin + 1 == bins ? 0 : density(edge(bin + 1));
    const double first = low - high;
    const double second = normal[bin] + edge(std::max<std::size_t>(bin, 1)) * low -
                          edge(std::min(bin + 1, bins - 1)) * high;
    histogram.bins[bin].normal_values += count * normal[bin];
    histogram.bins[bin].normal_squares +=
        count *
        (mean * mean * normal[bin] + 2 * mean * deviation * first + deviation * deviation * second);
  }
}

Compressed Measures::all() const {
  return all_.means();
}

std::vector<Compressed> Measures::iterations() const {
  std::vector<Compressed> rows;
  for (const auto& [first, sums] : rows_) {
    rows.push_back(sums.means());
    rows.back().iteration = first;
  }
  return rows;
}

std::vector<HistogramBin> Measures::histogram() const {
  std::vector<HistogramBin> rows;
  for (const auto& [iteration, histogram] : histograms_)
    for (std::size_t bin = 0; bin < histogram.bins.size(); ++bin)
      rows.push_back(
          {.iteration = iteration,
           .from = bin == 0 ? std::nullopt : std::optional(edge(bin)),
           .to = bin + 1 == bins ? std::nullopt : std::optional(edge(bin + 1)),
           .share = histogram.bins[bin].values / histogram.values,
           .square_share = histogram.bins[bin].squares / histogram.squares,
           .normal_share = histogram.bins[bin].normal_values / histogram.values,
           .normal_square_share = histogram.bins[bin].normal_squares / histogram.squares});
  return rows;
}

}  // namespace syncline

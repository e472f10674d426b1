#include "sim/setup/break_even.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace syncline {

double iteration_seconds(const Setup& setup, const std::vector<ExchangeTime>& buckets,
                         double bandwidth) {
  const ComputeTimes& compute = setup.compute;
  const auto slowest =
      static_cast<int>(std::ranges::max_element(compute.solo_s) - compute.solo_s.begin());
  const bool second_core = setup.traffic.cluster.workers.front().cores > 1;  // for compression

  // Who averages once in a round does so after its steps, and takes one more then.
  const int round = setup.traffic.round;
  const bool in_rounds = setup.scenario.schedule->round != nullptr;
  const bool overlap = setup.scenario.overlap && !in_rounds;
  const double stepping_s = compute.launch_s + compute.step_s[static_cast<std::size_t>(slowest)];
  const double alone_s = compute.forward_s(slowest) + compute.backward_s(slowest) + stepping_s;

  // When each message would be ready if there were no exchanges.
  double computed_s = in_rounds ? stepping_s : 0;
  computed_s += compute.forward_s(slowest);
  if (!overlap)
    computed_s += compute.backward_s(slowest);
  double compressed_s = 0;
  std::vector<double> made_s;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    if (overlap)
      computed_s += compute.backward_s(slowest, setup.buckets[i].forward_flop);
    compressed_s = std::max(compressed_s, computed_s) + buckets[i].compress_s;
    if (!second_core)
      computed_s = compressed_s;
    made_s.push_back(compressed_s);
  }
  double compute_delay_s = 0;  // from compression inside exchanges
  double free_s = 0;
  std::vector<double> exchanged_s;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const double start_s = std::max(free_s, made_s[i] + compute_delay_s);
    const double computing_s = std::max(0.0, computed_s + compute_delay_s - start_s);
    const double shared_s = second_core ? 0 : std::min(buckets[i].between_s, computing_s);
    const double end_s = start_s + buckets[i].fixed_s + buckets[i].between_s + shared_s +
                         buckets[i].bytes_s / bandwidth;
    free_s = end_s - buckets[i].shared_fixed_s - buckets[i].shared_bytes_s / bandwidth;
    compute_delay_s += shared_s;
    exchanged_s.push_back(end_s);
  }
  const double computing_ends_s = computed_s + compute_delay_s;
  double end_s = second_core ? 0 : computing_ends_s;
  for (std::size_t i = 0; i < buckets.size(); ++i)
    end_s = std::max(end_s, exchanged_s[i]) + buckets[i].decompress_s;
  const double averaging_s = std::max(end_s, computing_ends_s) + stepping_s;
  return ((round - 1) * alone_s + averaging_s) / round;
}

namespace {

constexpr double lowest = 1e-9;  // looked at, as multiples of the scenario's bandwidth
constexpr double highest = 1e9;
constexpr int looks = 1800;  // a hundred per decade: both limits of a range are found

// `extra_s`: compressed minus dense seconds at a multiple of the bandwidth, negative in the ranges.
template <class ExtraSeconds>
std::vector<BandwidthRange> ranges_below_zero(ExtraSeconds extra_s) {
  const auto crossing = [&](double low, double high, bool pays_low) {
    while (high / low > 1 + 1e-9) {
      const double middle = std::sqrt(low * high);
      ((extra_s(middle) < 0) == pays_low ? low : high) = middle;
    }
    return low;
  };
  std::vector<BandwidthRange> ranges;
  double last = lowest;
  bool paid = extra_s(last) < 0;
  if (paid)
    ranges.push_back({});
  for (int look = 1; look <= looks; ++look) {
    const double next = lowest * std::pow(highest / lowest, static_cast<double>(look) / looks);
    const bool pays = extra_s(next) < 0;
    if (pays && !paid)
      ranges.push_back({.from = crossing(last, next, paid)});
    else if (paid && !pays)
      ranges.back().to = crossing(last, next, paid);
    last = next;
    paid = pays;
  }
  return ranges;
}

}  // namespace

BreakEven break_even(const Setup& setup, Routes& routes, std::vector<ExchangeTime> times) {
  BreakEven result{.rival = dense_traffic(setup.traffic, *setup.scenario.dense_exchange)};
  result.compressed = std::move(times);
  result.dense = bucket_times(result.rival, routes, setup.buckets);

  double saved_s = 0;
  double spent_s = 0;
  for (std::size_t i = 0; i < result.dense.size(); ++i) {
    const ExchangeTime& ours = result.compressed[i];
    saved_s += result.dense[i].bytes_s - ours.bytes_s;
    spent_s += ours.compress_s + ours.between_s + ours.decompress_s + ours.fixed_s -
               result.dense[i].fixed_s;
  }
  if (saved_s > 0)
    result.without_overlap = {{.to = spent_s > 0 ? saved_s / spent_s : 0}};
  else if (spent_s < 0)
    result.without_overlap = {{.from = saved_s / spent_s}};
  result.with_overlap = ranges_below_zero([&](double bandwidth) {
    return iteration_seconds(setup, result.compressed, bandwidth) -
           iteration_seconds(setup, result.dense, bandwidth);
  });
  return result;
}

}  // namespace syncline

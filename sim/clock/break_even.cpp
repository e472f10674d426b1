#include "sim/clock/break_even.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace syncline {

namespace {

constexpr double lowest = 1e-9;  // search range, in multiples of the scenario's bandwidth
constexpr double highest = 1e9;
constexpr int many_looks = 1800;  // a hundred per decade: finds both limits of a range
constexpr int few_looks = 72;     // used where each look evaluates all exchanges anew

// `extra_s`: compressed minus dense seconds at a multiple of the bandwidth; negative within the
// ranges.
template <class ExtraSeconds>
std::vector<BandwidthRange> ranges_below_zero(ExtraSeconds extra_s, int looks, double nearness) {
  const auto crossing = [&](double low, double high, bool below_at_low) {
    while (high / low > 1 + nearness) {
      const double middle = std::sqrt(low * high);
      ((extra_s(middle) < 0) == below_at_low ? low : high) = middle;
    }
    return low;
  };
  std::vector<BandwidthRange> ranges;
  double last = lowest;
  bool was_below = extra_s(last) < 0;
  if (was_below)
    ranges.push_back({});
  for (int look = 1; look <= looks; ++look) {
    const double next = lowest * std::pow(highest / lowest, static_cast<double>(look) / looks);
    const bool is_below = extra_s(next) < 0;
    if (is_below && !was_below)
      ranges.push_back({.from = crossing(last, next, was_below)});
    else if (was_below && !is_below)
      ranges.back().to = crossing(last, next, was_below);
    last = next;
    was_below = is_below;
  }
  return ranges;
}

// Searches near `first` for a limit at which compressed and dense seconds are equal. `first` is the
// limit for exchange times at the scenario's own bandwidth. Bisects by factors, to a
// ten-thousandth; returns 0 if there is no limit within a factor of four.
template <class ExtraSeconds>
double limit_near(double first, ExtraSeconds extra_s) {
  constexpr double near = 1 + 1e-4;
  const bool is_below = extra_s(first) < 0;
  for (const double step : {near, 1 / near, 1.3, 1 / 1.3, 4.0, 0.25})
    if ((extra_s(first * step) < 0) != is_below) {
      double same = first;
      double other = first * step;
      while (std::max(other / same, same / other) > near) {
        const double middle = std::sqrt(same * other);
        ((extra_s(middle) < 0) == is_below ? same : other) = middle;
      }
      return same;
    }
  return 0;
}

// True if work inside the exchanges of several buckets begins at a different time on each rank.
bool drift_apart(const std::vector<ExchangeTime>& buckets) {
  return std::ranges::any_of(buckets, [&](const ExchangeTime& bucket) {
    return bucket.about ||
           (buckets.size() > 1 && bucket.between_s > 0 &&
            bucket.shared_fixed_s + bucket.shared_bytes_s > 1e-3 * bucket.exchange_s());
  });
}

// Evaluates a scenario with other times for its averages over all workers.
struct Averages {
  const Setup& setup;
  const Round& round;
  const CollectiveTimes& times;

  CollectiveTimes with(std::vector<ExchangeTime> over_all) const {
    CollectiveTimes all = times;
    all.over_all = std::move(over_all);
    return all;
  }
  double seconds(const CollectiveTimes& all, double bandwidth = 1) const {
    return iteration_seconds(setup, round, all, bandwidth);
  }
};

// The scenario's seconds or less: if ranks reach an exchange at different times, the work inside
// all exchanges but the last may be hidden behind the next exchange.
double least_seconds(const Averages& averages, std::vector<ExchangeTime> buckets) {
  for (std::size_t i = 0; i + 1 < buckets.size(); ++i) {
    buckets[i].between_s = 0;
    buckets[i].works.clear();
  }
  return averages.seconds(averages.with(std::move(buckets)));
}

double alone_s(const std::vector<ExchangeTime>& buckets) {
  double seconds = 0;
  for (const ExchangeTime& bucket : buckets)
    seconds += bucket.compress_s + bucket.exchange_s() + bucket.decompress_s;
  return seconds;
}

// Exchange times of a scenario and its rival, evaluated at given bandwidths.
class BothTimes {
 public:
  BothTimes(const Setup& setup, Routes& routes, const Traffic& rival)
      : setup_(setup), routes_(routes), rival_(rival) {}

  // If bandwidth-factor names links, only the bandwidths of those links are multiplied.
  bool of_named() const { return !setup_.scenario.link_bandwidths.empty(); }

  using Times = std::pair<std::vector<ExchangeTime>, std::vector<ExchangeTime>>;
  const Times& at(double bandwidth) {
    const auto [known, added] = known_.try_emplace(bandwidth);
    if (!added)
      return known->second;
    if (of_named())
      routes_.scale_named(bandwidth);
    const double of_all = of_named() ? 1 : bandwidth;
    known->second = {bucket_times(setup_.traffic, routes_, setup_.buckets, of_all),
                     bucket_times(rival_, routes_, setup_.buckets, of_all)};
    if (of_named())
      routes_.scale_named(1);
    return known->second;
  }

  template <class SecondsOf>
  double extra_s(double bandwidth, SecondsOf seconds_of) {
    const Times& both = at(bandwidth);
    return seconds_of(both.first) - seconds_of(both.second);
  }

 private:
  const Setup& setup_;
  Routes& routes_;
  const Traffic& rival_;
  std::map<double, Times> known_;
};

// Finds the ranges from the exchange times at the scenario's own bandwidths, split into bytes and
// the rest.
void find_ranges(const Averages& averages, BreakEven& result) {
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
  const CollectiveTimes compressed = averages.with(result.compressed);
  const CollectiveTimes dense = averages.with(result.dense);
  const auto extra_s = [&](double bandwidth) {
    return averages.seconds(compressed, bandwidth) - averages.seconds(dense, bandwidth);
  };
  result.with_overlap = ranges_below_zero(extra_s, many_looks, 1e-9);
}

BreakEven break_even_of(const Setup& setup, Routes& routes, const Round& round,
                        const CollectiveTimes& times) {
  const Averages averages{setup, round, times};
  BreakEven result{.rival = dense_traffic(setup.traffic, *setup.scenario.dense_exchange)};
  BothTimes both(setup, routes, result.rival);
  result.compressed = times.over_all;
  result.dense = bucket_times(result.rival, routes, setup.buckets);
  const auto overlapped_s = [&](const std::vector<ExchangeTime>& buckets) {
    return averages.seconds(averages.with(buckets));
  };
  const auto find = [&](auto seconds_of) {
    return ranges_below_zero([&](double bandwidth) { return both.extra_s(bandwidth, seconds_of); },
                             few_looks, 1e-4);
  };
  const auto look_again = [&](std::vector<BandwidthRange>& ranges, auto seconds_of) {
    for (BandwidthRange& range : ranges)
      for (double* limit : {&range.from, &range.to})
        if (*limit > 0) {
          *limit = limit_near(
              *limit, [&](double bandwidth) { return both.extra_s(bandwidth, seconds_of); });
          result.known = result.known && *limit > 0;
        }
  };
  result.known = !drift_apart(result.compressed) && !setup.within;
  if (both.of_named() && result.known) {
    result.without_overlap = find(alone_s);
    result.with_overlap = find(overlapped_s);
  } else {
    find_ranges(averages, result);
  }
  if (!result.known)
    return result;
  if (!both.of_named()) {
    look_again(result.without_overlap, alone_s);
    look_again(result.with_overlap, overlapped_s);
  }
  const auto is_confirmed = [&](double bandwidth, bool expected) {
    const auto& [compressed, dense] = both.at(bandwidth);
    return expected ? overlapped_s(compressed) < least_seconds(averages, dense)
                    : least_seconds(averages, compressed) > overlapped_s(dense);
  };
  constexpr double near = 1.05;
  for (const auto& [from, to] : result.with_overlap) {
    result.known =
        result.known &&
        (from == 0 || (is_confirmed(from / near, false) && is_confirmed(from * near, true)));
    result.known = result.known &&
                   (to == 0 || (is_confirmed(to / near, true) && is_confirmed(to * near, false)));
  }
  return result;
}

}  // namespace

BreakEven break_even(const Setup& setup, Routes& routes, const Round& round,
                     const CollectiveTimes& times) {
  BreakEven result = break_even_of(setup, routes, round, times);
  const Compression& compression = setup.traffic.compression;
  if (!compression.is_range())
    return result;
  for (double CostRow::*end : {&CostRow::p10, &CostRow::p90}) {
    Setup there = setup;
    there.traffic.compression = compression.at_end(end);
    result.ends.push_back(break_even_of(there, routes, round, collective_times(there, routes)));
  }
  return result;
}

}  // namespace syncline

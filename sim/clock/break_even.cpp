#include "sim/clock/break_even.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "sim/setup/buckets.h"
#include "sim/setup/dense_rival.h"
#include "sim/traffic/exchange_cost.h"

namespace syncline {

namespace {

constexpr double lowest = 1e-9;  // search range, in multiples of the scenario's bandwidth
constexpr double highest = 1e9;
constexpr int many_looks = 1800;     // a hundred per decade: finds both limits of a range
constexpr int few_looks = 72;        // used where each look evaluates all exchanges anew
constexpr double near_limit = 1.05;  // so near a limit it is known which is faster

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

// One of the two scenarios, evaluated with other times for its averages over all workers.
struct Averages {
  const Setup& setup;
  const Round& round;
  const CollectiveTimes& times;

  double seconds(const std::vector<ExchangeTime>& over_all) const {
    CollectiveTimes all = times;
    all.over_all = over_all;
    return iteration_seconds(setup, round, all);
  }
  // If ranks reach an exchange at different times, the work inside all exchanges but the last may
  // be hidden behind the next exchange.
  double least_seconds(std::vector<ExchangeTime> buckets) const {
    for (std::size_t i = 0; i + 1 < buckets.size(); ++i) {
      buckets[i].between_s = 0;
      buckets[i].works.clear();
    }
    return seconds(buckets);
  }
  double together_s() const { return setup.compute.together_s(slowest_worker(setup)); }
  // Without overlap and computation.
  double alone_s(const std::vector<ExchangeTime>& buckets) const {
    double seconds = together_s();
    for (const ExchangeTime& bucket : buckets)
      seconds += bucket.compress_s + bucket.exchange_s() + bucket.decompress_s;
    return seconds;
  }
};

using SecondsOf = double (Averages::*)(const std::vector<ExchangeTime>&) const;

// A scenario and its rival, and their exchange times at given bandwidths.
class Both {
  // What `run` returns for multiples of the bandwidths; it is told that of all links.
  template <class Run>
  auto scaled(double bandwidth, Run run) {
    if (!of_named())
      return run(bandwidth);
    routes_.scale_named(bandwidth);
    auto result = run(1.0);
    routes_.scale_named(1);
    return result;
  }

 public:
  Both(const Averages& ours, const Averages& rival, Routes& routes)
      : ours_(ours), rival_(rival), routes_(routes) {}

  // If bandwidth-factor names links, only the bandwidths of those links are multiplied.
  bool of_named() const { return !ours_.setup.scenario.link_bandwidths.empty(); }

  using Times = std::pair<std::vector<ExchangeTime>, std::vector<ExchangeTime>>;
  const Times& at(double bandwidth) {
    const auto [known, added] = known_.try_emplace(bandwidth);
    if (!added)
      return known->second;
    known->second = scaled(bandwidth, [&](double of_all) -> Times {
      return {bucket_times(ours_.setup.traffic, routes_, ours_.setup.buckets, of_all),
              bucket_times(rival_.setup.traffic, routes_, rival_.setup.buckets, of_all)};
    });
    return known->second;
  }

  // Likewise, with the messages that a compressor with network prices makes at this bandwidth.
  // Finding their sizes takes long.
  Times with_messages_at(double bandwidth) {
    Times both = at(bandwidth);
    if (ours_.setup.scenario.network_prices)
      both.first = compressed_at(bandwidth, traffic_at(bandwidth));
    return both;
  }

  // The limit with the messages that are made there, near this one with those of the scenario's own
  // bandwidth. 0: none was found.
  double limit_with_messages(double limit, SecondsOf seconds_of) {
    constexpr int most_looks = 12;
    for (int look = 0; look < most_looks && limit > 0; ++look) {
      const Traffic traffic = traffic_at(limit);
      const double next = limit_near(limit, [&](double bandwidth) {
        return (ours_.*seconds_of)(compressed_at(bandwidth, traffic)) -
               (rival_.*seconds_of)(at(bandwidth).second);
      });
      if (std::abs(next / limit - 1) < 1e-3)
        return next;
      // Messages grow with the bandwidth, so the limit is between the two, or further down.
      limit = next > 0 ? std::sqrt(limit * next) : limit / 2;
    }
    return 0;
  }

  double extra_s(double bandwidth, SecondsOf seconds_of) {
    const Times& both = at(bandwidth);
    return (ours_.*seconds_of)(both.first) - (rival_.*seconds_of)(both.second);
  }

  // True if compression pays within these ranges alone, also with the messages that a compressor
  // with network prices makes at other bandwidths: looks beside the limits, and far from them.
  bool is_so_everywhere(const std::vector<BandwidthRange>& ranges, SecondsOf seconds_of) {
    if (!ours_.setup.scenario.network_prices)
      return true;
    const auto pays_by = [&](double bandwidth) {
      return std::ranges::any_of(ranges, [&](const BandwidthRange& range) {
        return bandwidth > range.from && (range.to == 0 || bandwidth < range.to);
      });
    };
    std::vector<double> looks{0.01, 1, 100};  // times the scenario's bandwidth
    for (const auto& [from, to] : ranges)
      for (const double limit : {from, to})
        if (limit > 0)
          looks.insert(looks.end(), {limit / near_limit, limit * near_limit});
    return std::ranges::all_of(looks, [&](double bandwidth) {
      const auto [compressed, dense] = with_messages_at(bandwidth);
      return ((ours_.*seconds_of)(compressed) < (rival_.*seconds_of)(dense)) == pays_by(bandwidth);
    });
  }

  // True if it is certain which is faster.
  bool is_confirmed(double bandwidth, bool compressed_is_faster) {
    const auto [compressed, dense] = with_messages_at(bandwidth);
    return compressed_is_faster ? ours_.seconds(compressed) < rival_.least_seconds(dense)
                                : ours_.least_seconds(compressed) > rival_.seconds(dense);
  }

 private:
  std::vector<ExchangeTime> compressed_at(double bandwidth, const Traffic& traffic) {
    return scaled(bandwidth, [&](double of_all) {
      return bucket_times(traffic, routes_, ours_.setup.buckets, of_all);
    });
  }

  // Ours, with the messages of this bandwidth.
  Traffic traffic_at(double bandwidth) {
    Traffic traffic = ours_.setup.traffic;
    const Traffic dense = dense_traffic(traffic, *traffic.exchange);
    traffic.compression = traffic.compression.with_start(scaled(bandwidth, [&](double of_all) {
      return start_bytes(dense, routes_, dense.bytes_of(ours_.setup.model_bucket),
                         traffic.compression.compressor().reducible, of_all);
    }));
    return traffic;
  }

  const Averages& ours_;
  const Averages& rival_;
  Routes& routes_;
  std::map<double, Times> known_;
};

// Finds the ranges from the exchange times at the scenario's own bandwidths, split into bytes and
// the rest.
void find_ranges(const Averages& ours, const Averages& rival, BreakEven& result) {
  double saved_s = 0;
  double spent_s = ours.together_s() - rival.together_s();
  for (const ExchangeTime& bucket : ours.times.over_all) {
    saved_s -= bucket.bytes_s;
    spent_s += bucket.compress_s + bucket.between_s + bucket.decompress_s + bucket.fixed_s;
  }
  for (const ExchangeTime& bucket : rival.times.over_all) {
    saved_s += bucket.bytes_s;
    spent_s -= bucket.fixed_s;
  }
  if (saved_s > 0)
    result.without_overlap = {{.to = spent_s > 0 ? saved_s / spent_s : 0}};
  else if (spent_s < 0)
    result.without_overlap = {{.from = saved_s / spent_s}};
  const auto extra_s = [&](double bandwidth) {
    return iteration_seconds(ours.setup, ours.round, ours.times, bandwidth) -
           iteration_seconds(rival.setup, rival.round, rival.times, bandwidth);
  };
  result.with_overlap = ranges_below_zero(extra_s, many_looks, 1e-9);
}

BreakEven break_even_of(const Averages& ours, const Averages& rival, Routes& routes) {
  BreakEven result{.rival = rival.setup.traffic};
  Both both(ours, rival, routes);
  const auto find = [&](SecondsOf seconds_of) {
    return ranges_below_zero([&](double bandwidth) { return both.extra_s(bandwidth, seconds_of); },
                             few_looks, 1e-4);
  };
  const auto look_again = [&](std::vector<BandwidthRange>& ranges, SecondsOf seconds_of) {
    for (BandwidthRange& range : ranges)
      for (double* limit : {&range.from, &range.to})
        if (*limit > 0) {
          *limit = ours.setup.scenario.network_prices
                       ? both.limit_with_messages(*limit, seconds_of)
                       : limit_near(*limit, [&](double bandwidth) {
                           return both.extra_s(bandwidth, seconds_of);
                         });
          result.known = result.known && *limit > 0;
        }
  };
  result.known = !drift_apart(ours.times.over_all) && !ours.setup.within;
  if (both.of_named() && result.known) {
    result.without_overlap = find(&Averages::alone_s);
    result.with_overlap = find(&Averages::seconds);
  } else {
    find_ranges(ours, rival, result);
  }
  if (!result.known)
    return result;
  if (!both.of_named() || ours.setup.scenario.network_prices) {
    look_again(result.without_overlap, &Averages::alone_s);
    look_again(result.with_overlap, &Averages::seconds);
  }
  for (const auto& [from, to] : result.with_overlap)
    result.known = result.known &&
                   (from == 0 || (both.is_confirmed(from / near_limit, false) &&
                                  both.is_confirmed(from * near_limit, true))) &&
                   (to == 0 || (both.is_confirmed(to / near_limit, true) &&
                                both.is_confirmed(to * near_limit, false)));
  result.known = result.known && both.is_so_everywhere(result.with_overlap, &Averages::seconds) &&
                 both.is_so_everywhere(result.without_overlap, &Averages::alone_s);
  return result;
}

}  // namespace

BreakEven break_even(const Setup& setup, Routes& routes, const Round& round,
                     const CollectiveTimes& times) {
  const Setup dense = dense_rival(setup);
  const Round dense_round = recorded_round(dense);
  const CollectiveTimes dense_times = collective_times(dense, routes);
  const Averages rival{dense, dense_round, dense_times};
  BreakEven result = break_even_of({setup, round, times}, rival, routes);
  result.dense_iteration_s = iteration_seconds(dense, dense_round, dense_times);
  const Compression& compression = setup.traffic.compression;
  if (!compression.is_range())
    return result;
  for (double CostRow::*end : {&CostRow::p10, &CostRow::p90}) {
    Setup there = setup;
    there.traffic.compression = compression.at_end(end);
    if (!there.tensors.empty())
      there.buckets =
          cycled(there.scenario, there.model, there.compute, there.traffic, there.tensors);
    const Round round_there = recorded_round(there);
    const CollectiveTimes times_there = collective_times(there, routes);
    result.ends.push_back(break_even_of({there, round_there, times_there}, rival, routes));
  }
  return result;
}

}  // namespace syncline

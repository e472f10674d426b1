#include "sim/setup/break_even.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace syncline {

namespace {

// The compute stream does these, in their order.
struct Task {
  double seconds = 0;
  int makes = -1;      // the bucket whose message is ready then
  int reads = -1;      // the bucket that has to be exchanged before
  double waits_s = 0;  // what it makes, for the end of a cycle
};

// A part of an exchange.
struct Leg {
  double seconds = 0;
  bool works = false;  // else bytes move
};

std::vector<Leg> legs_of(const ExchangeTime& bucket, double bandwidth) {
  const double moving_s = bucket.fixed_s + bucket.bytes_s / bandwidth - bucket.shared_fixed_s -
                          bucket.shared_bytes_s / bandwidth;
  std::vector<Leg> legs;
  double after = 0;
  for (const ExchangeTime::Work& work : bucket.works) {
    legs.push_back({.seconds = (work.after - after) * moving_s});
    legs.push_back({.seconds = work.seconds, .works = true});
    after = work.after;
  }
  legs.push_back({.seconds = (1 - after) * moving_s});
  return legs;
}

// When the tasks end on one core, of which work inside an exchange has half while a task runs. The
// next bucket's exchange begins when this one's legs have ended; it is over `shared_s` later.
double one_core_seconds(const std::vector<Task>& tasks, const std::vector<ExchangeTime>& buckets,
                        double bandwidth) {
  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<double> over_s(buckets.size(), never);
  std::vector<double> begins_s(buckets.size(), 0);  // not before its cycle ends
  int made = 0;
  std::size_t task = 0;
  std::size_t bucket = 0;
  std::size_t leg = 0;
  std::vector<Leg> legs;
  if (!buckets.empty())
    legs = legs_of(buckets.front(), bandwidth);
  double task_left_s = tasks.front().seconds;
  double leg_left_s = legs.empty() ? 0 : legs.front().seconds;
  double now_s = 0;
  while (task < tasks.size()) {
    const int reads = tasks[task].reads;
    const double task_from_s = reads < 0 ? 0 : over_s[index(reads)];
    const bool computes = task_from_s <= now_s;
    const bool is_made = static_cast<int>(bucket) < made;
    const bool exchanges = is_made && begins_s[bucket] <= now_s;
    const double rate = computes && exchanges && legs[leg].works ? 0.5 : 1;
    const double task_s = computes ? task_left_s / rate : task_from_s - now_s;
    const double leg_s = exchanges ? leg_left_s / (legs[leg].works ? rate : 1) : never;
    if (const double begins_in_s = is_made && !exchanges ? begins_s[bucket] - now_s : never;
        begins_in_s < task_s) {
      task_left_s -= computes ? begins_in_s * rate : 0;
      now_s = begins_s[bucket];
      continue;
    }
    const double seconds = std::min(task_s, leg_s);
    now_s = !computes && task_s <= leg_s ? task_from_s : now_s + seconds;
    task_left_s -= computes ? seconds * rate : 0;
    leg_left_s -= exchanges ? seconds * (legs[leg].works ? rate : 1) : 0;
    if (computes && task_s <= leg_s) {
      made = std::max(made, tasks[task].makes + 1);
      if (const int makes = tasks[task].makes; makes >= 0)
        begins_s[index(makes)] = now_s + tasks[task].waits_s;
      if (++task < tasks.size())
        task_left_s = tasks[task].seconds;
    }
    if (exchanges && leg_s <= task_s) {
      if (++leg == legs.size()) {
        over_s[bucket] =
            now_s + buckets[bucket].shared_fixed_s + buckets[bucket].shared_bytes_s / bandwidth;
        leg = 0;
        if (++bucket < buckets.size())
          legs = legs_of(buckets[bucket], bandwidth);
      }
      leg_left_s = legs[leg].seconds;
    }
  }
  return now_s;
}

// From its first computation, which takes `before_s`, to the end of the last one. With `overlap`
// backward comes in between, and makes buckets.
double averaging_seconds(const Setup& setup, const std::vector<ExchangeTime>& buckets,
                         double bandwidth, int worker, double before_s, bool overlap,
                         double after_s) {
  const ComputeTimes& compute = setup.compute;
  const bool second_core = setup.traffic.cluster.workers.front().cores > 1;  // for compression
  const auto backward_s = [&](std::size_t bucket) {
    return overlap ? compute.backward_s(worker, setup.buckets[bucket]) : 0;
  };
  if (!second_core) {
    std::vector<Task> tasks{{.seconds = before_s}};
    for (std::size_t i = 0; i < buckets.size(); ++i)
      tasks.push_back({.seconds = backward_s(i) + buckets[i].compress_s,
                       .makes = static_cast<int>(i),
                       .waits_s = setup.buckets[i].waits_s});
    for (std::size_t i = 0; i < buckets.size(); ++i)
      tasks.push_back({.seconds = buckets[i].decompress_s, .reads = static_cast<int>(i)});
    tasks.push_back({.seconds = after_s});
    return one_core_seconds(tasks, buckets, bandwidth);
  }
  double computed_s = before_s;
  double compressed_s = 0;
  double free_s = 0;
  double read_s = 0;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const ExchangeTime& bucket = buckets[i];
    computed_s += backward_s(i);
    compressed_s = std::max(compressed_s, computed_s) + bucket.compress_s;
    const double end_s = std::max(free_s, compressed_s + setup.buckets[i].waits_s) +
                         bucket.fixed_s + bucket.between_s + bucket.bytes_s / bandwidth;
    free_s = end_s - bucket.shared_fixed_s - bucket.shared_bytes_s / bandwidth;
    read_s = std::max(read_s, end_s) + bucket.decompress_s;
  }
  return std::max(read_s, computed_s) + after_s;
}

}  // namespace

double iteration_seconds(const Setup& setup, const std::vector<ExchangeTime>& buckets,
                         double bandwidth, const std::vector<ExchangeTime>& within) {
  const ComputeTimes& compute = setup.compute;
  const Schedule& schedule = *setup.scenario.schedule;
  const auto worker =
      static_cast<int>(std::ranges::max_element(compute.solo_s) - compute.solo_s.begin());
  const bool overlap = setup.scenario.overlap;
  const double stepping_s = compute.launch_s + compute.step_s[index(worker)];
  const double forward_s = compute.before_backward_s(worker);
  const double before_s = forward_s + (overlap ? 0 : compute.backward_s(worker));
  if (schedule.round == nullptr)
    return averaging_seconds(setup, buckets, bandwidth, worker, before_s, overlap, stepping_s);
  // A worker that averages once in a round does so after its steps, and takes one more then.
  const double alone_s = within.empty() ? forward_s + compute.backward_s(worker) + stepping_s
                                        : averaging_seconds(setup, within, bandwidth, worker,
                                                            before_s, overlap, stepping_s);
  const double average_s = averaging_seconds(setup, buckets, bandwidth, worker, 0, false, 0);
  const double hidden_s =
      schedule.delay == nullptr ? 0 : schedule.delay(setup.scenario.schedule_settings) * alone_s;
  return alone_s + (std::max(average_s - hidden_s, 0.0) + stepping_s) / setup.traffic.round;
}

namespace {

constexpr double lowest = 1e-9;  // looked at, as multiples of the scenario's bandwidth
constexpr double highest = 1e9;
constexpr int many_looks = 1800;  // a hundred per decade: both limits of a range are found
constexpr int few_looks = 72;     // where each is of all exchanges anew

// `extra_s`: compressed minus dense seconds at a multiple of the bandwidth, negative in the ranges.
template <class ExtraSeconds>
std::vector<BandwidthRange> ranges_below_zero(ExtraSeconds extra_s, int looks, double nearness) {
  const auto crossing = [&](double low, double high, bool pays_low) {
    while (high / low > 1 + nearness) {
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

// A limit at which compressed - dense seconds are zero, near one that came from exchanges as long
// as they are at the scenario's own bandwidth. Bisects by factors, to half a per cent; 0 if there
// is none within a factor of four.
template <class ExtraSeconds>
double limit_near(double first, ExtraSeconds extra_s) {
  const double sign = extra_s(first);
  for (const double step : {1.3, 1 / 1.3, 4.0, 0.25})
    if ((extra_s(first * step) < 0) != (sign < 0)) {
      double same = first;
      double other = first * step;
      while (std::abs(std::log(other / same)) > 0.005) {
        const double middle = std::sqrt(same * other);
        ((extra_s(middle) < 0) == (sign < 0) ? same : other) = middle;
      }
      return other;
    }
  return 0;
}

// Whether work inside the exchanges of several buckets begins at moments of each rank's own.
bool drift_apart(const std::vector<ExchangeTime>& buckets) {
  return std::ranges::any_of(buckets, [&](const ExchangeTime& bucket) {
    return bucket.about ||
           (buckets.size() > 1 && bucket.between_s > 0 &&
            bucket.shared_fixed_s + bucket.shared_bytes_s > 1e-3 * bucket.exchange_s());
  });
}

// iteration_seconds(), or less: where ranks come to an exchange at times of their own, work inside
// all but the last one may be hidden behind the next.
double least_seconds(const Setup& setup, std::vector<ExchangeTime> buckets) {
  for (std::size_t i = 0; i + 1 < buckets.size(); ++i) {
    buckets[i].between_s = 0;
    buckets[i].works.clear();
  }
  return iteration_seconds(setup, buckets, 1);
}

double alone_s(const std::vector<ExchangeTime>& buckets) {
  double seconds = 0;
  for (const ExchangeTime& bucket : buckets)
    seconds += bucket.compress_s + bucket.exchange_s() + bucket.decompress_s;
  return seconds;
}

// Of one scenario and its rival, exchanges as long as they are at these bandwidths.
class BothTimes {
 public:
  BothTimes(const Setup& setup, Routes& routes, const Traffic& rival)
      : setup_(setup), routes_(routes), rival_(rival) {}

  // Only those of links that bandwidth-factor names are multiplied, if it names any.
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

// By what exchanges take at the scenario's own bandwidths, split into bytes and the rest.
void find_ranges(const Setup& setup, BreakEven& result) {
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
  const auto extra_s = [&](double bandwidth) {
    return iteration_seconds(setup, result.compressed, bandwidth) -
           iteration_seconds(setup, result.dense, bandwidth);
  };
  result.with_overlap = ranges_below_zero(extra_s, many_looks, 1e-9);
}

}  // namespace

namespace {

BreakEven break_even_of(const Setup& setup, Routes& routes, std::vector<ExchangeTime> times) {
  BreakEven result{.rival = dense_traffic(setup.traffic, *setup.scenario.dense_exchange)};
  BothTimes both(setup, routes, result.rival);
  result.compressed = std::move(times);
  result.dense = bucket_times(result.rival, routes, setup.buckets);
  const auto overlapped_s = [&](const std::vector<ExchangeTime>& buckets) {
    return iteration_seconds(setup, buckets, 1);
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
    find_ranges(setup, result);
  }
  if (!result.known)
    return result;
  if (!both.of_named()) {
    look_again(result.without_overlap, alone_s);
    look_again(result.with_overlap, overlapped_s);
  }
  const auto pays = [&](double bandwidth, bool expected) {
    const auto& [compressed, dense] = both.at(bandwidth);
    return expected ? overlapped_s(compressed) < least_seconds(setup, dense)
                    : least_seconds(setup, compressed) > overlapped_s(dense);
  };
  constexpr double near = 1.05;
  for (const auto& [from, to] : result.with_overlap) {
    result.known =
        result.known && (from == 0 || (pays(from / near, false) && pays(from * near, true)));
    result.known = result.known && (to == 0 || (pays(to / near, true) && pays(to * near, false)));
  }
  return result;
}

}  // namespace

BreakEven break_even(const Setup& setup, Routes& routes, std::vector<ExchangeTime> times) {
  BreakEven result = break_even_of(setup, routes, std::move(times));
  const Compression& compression = setup.traffic.compression;
  if (!compression.is_range())
    return result;
  for (double CostRow::*end : {&CostRow::p10, &CostRow::p90}) {
    Setup there = setup;
    there.traffic.compression = compression.at_end(end);
    result.ends.push_back(
        break_even_of(there, routes, bucket_times(there.traffic, routes, there.buckets)));
  }
  return result;
}

}  // namespace syncline

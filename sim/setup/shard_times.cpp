#include "sim/setup/shard_times.h"

#include <algorithm>

#include "sim/setup/flight_times.h"

namespace syncline {
namespace {

// A worker's streams, as they pass the units of an iteration.
class ShardClock {
 public:
  ShardClock(const Setup& setup, const ShardTimes& times)
      : setup_(setup),
        how_(setup.shards->how),
        times_(times),
        worker_(static_cast<int>(std::ranges::max_element(setup.compute.solo_s) -
                                 setup.compute.solo_s.begin())),
        arrived_s_(setup.buckets.size()),
        in_flight_(setup.scenario.slowdown_beside_collectives()) {}

  // Of the second iteration, into which gathers may reach from the first one.
  double seconds() {
    iteration();
    const double first_s = now_s_;
    iteration();
    return now_s_ - first_s;
  }

 private:
  void iteration() {
    const int units = static_cast<int>(setup_.buckets.size());
    std::vector<int> backward;
    for (int unit = 0; unit < units; ++unit)
      backward.push_back(unit);
    const std::vector<int> forward(backward.rbegin(), backward.rend());
    const ComputeTimes& compute = setup_.compute;
    for (int left = compute.micro_steps - 1; left >= 0; --left) {
      pass(forward, 0, how_.prefetch, [&](int i, auto) {
        computes(compute.forward_s(worker_, setup_.buckets[index(forward[index(i)])].forward_flop));
      });
      const int ahead = how_.backward == Sharding::Backward::pre ? how_.prefetch : 0;
      pass(backward, 1, ahead, [&](int unit, auto gather_to) {
        computes(compute.backward_s(worker_, setup_.buckets[index(unit)]));
        if (how_.backward == Sharding::Backward::post)
          gather_to(unit + 1);
        if (left == 0 || !how_.adds_whole)
          scatter(unit);
      });
    }
    wait_for(std::max(scattered_s_, averaged_s_));
    computes(compute.launch_s + compute.step_s[index(worker_)]);
    if (how_.parameters)
      return;
    for (const int unit : forward)
      gather(unit);
    if (how_.prefetch == 0)
      wait_for(free_s_);
  }

  // `compute` is told the place in the order, and what gathers up to another one.
  template <class Compute>
  void pass(const std::vector<int>& units, int present, int ahead, Compute compute) {
    const int count = static_cast<int>(units.size());
    int gathered = how_.parameters ? present : count;
    const auto gather_to = [&](int last) {
      for (; gathered <= std::min(last, count - 1); ++gathered)
        gather(units[index(gathered)]);
    };
    for (int i = 0; i < count; ++i) {
      gather_to(i + ahead);
      wait_for(arrived_s_[index(units[index(i)])]);
      compute(i, gather_to);
    }
  }

  void computes(double seconds) { now_s_ = in_flight_.computed_s(now_s_, seconds); }

  void wait_for(double end_s) { now_s_ = std::max(now_s_, end_s); }

  void queue(double seconds) {
    const double begins_s = std::max(free_s_, now_s_);
    free_s_ = begins_s + seconds;
    in_flight_.add(begins_s, free_s_);
    if (!setup_.scenario.overlap)
      wait_for(free_s_);
  }

  void gather(int unit) {
    queue(times_.gather[index(unit)].exchange_s());
    arrived_s_[index(unit)] = free_s_;
  }

  void scatter(int unit) {
    queue(times_.reduce_scatter[index(unit)].exchange_s());
    scattered_s_ = free_s_;
    if (times_.across.empty())
      return;
    const double begins_s = std::max(averaged_s_, free_s_);
    averaged_s_ = begins_s + times_.across[index(unit)].exchange_s();
    in_flight_.add(begins_s, averaged_s_);
    if (!setup_.scenario.overlap)
      wait_for(averaged_s_);
  }

  const Setup& setup_;
  const Sharding& how_;
  const ShardTimes& times_;
  int worker_;  // the slowest
  double now_s_ = 0;
  double free_s_ = 0;  // of the stream inside groups
  double scattered_s_ = 0;
  double averaged_s_ = 0;          // and of that across them
  std::vector<double> arrived_s_;  // by unit
  FlightTimes in_flight_;          // of both streams
};

ExchangeTime repeated(const ExchangeTime& one, double count) {
  return {.fixed_s = count * one.fixed_s, .bytes_s = count * one.bytes_s, .about = one.about};
}

void add_to(const ExchangeTime& more, ExchangeTime& sum) {
  sum.fixed_s += more.fixed_s;
  sum.bytes_s += more.bytes_s;
  sum.about = sum.about || more.about;
}

}  // namespace

ShardTimes shard_times(const Setup& setup, Routes& routes) {
  const Shards& shards = *setup.shards;
  return {.gather = bucket_times(shards.gather, routes, setup.buckets),
          .reduce_scatter = bucket_times(shards.reduce_scatter, routes, setup.buckets),
          .across = bucket_times(shards.across, routes, setup.buckets)};
}

ShardSums sums_of(const Setup& setup, const ShardTimes& of_units) {
  const Sharding& how = setup.shards->how;
  const int micro_steps = setup.compute.micro_steps;
  ShardSums sums;
  for (std::size_t unit = 0; unit < setup.buckets.size(); ++unit) {
    add_to(repeated(of_units.gather[unit], how.gathers(micro_steps, unit == 0)), sums.gather);
    add_to(repeated(of_units.reduce_scatter[unit], how.reduce_scatters(micro_steps)),
           sums.reduce_scatter);
    if (!of_units.across.empty())
      add_to(repeated(of_units.across[unit], how.reduce_scatters(micro_steps)), sums.across);
  }
  return sums;
}

double iteration_seconds(const Setup& setup, const ShardTimes& times) {
  return ShardClock(setup, times).seconds();
}

}  // namespace syncline

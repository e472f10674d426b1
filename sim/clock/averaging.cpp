#include "sim/clock/averaging.h"

#include <algorithm>
#include <utility>

#include "sim/schedule.h"

namespace syncline {
namespace {

// In a round of several iterations, of that which averages over all: it may go on in the next ones.
double without_overlap_s(const Setup& setup, const Averaging& known) {
  if (setup.traffic.round == 1)
    return iteration_seconds(setup, known.round, known.times, 1, false);
  const ComputeTimes& compute = setup.compute;
  const auto slowest = std::ranges::max_element(compute.solo_s) - compute.solo_s.begin();
  const ExchangeTime& all = known.exchange;
  return compute.solo_s[static_cast<std::size_t>(slowest)] +
         compute.step_s[static_cast<std::size_t>(slowest)] + 2 * compute.launch_s + all.compress_s +
         all.exchange_s() + all.decompress_s + known.in_group.exchange_s();
}

}  // namespace

std::optional<Averaging> averaging(const Setup& setup, Routes& routes) {
  if (setup.traffic.partners != Schedule::Partners::each_other || setup.profiles.shown_s > 0)
    return std::nullopt;
  Averaging all{.round = recorded_round(setup), .times = collective_times(setup, routes)};
  all.in_group = sum_of(all.times.within);
  if (setup.shards) {
    all.shards = sums_of(all.round, all.times);
    all.exchange = {.fixed_s = all.shards.fixed_s(),
                    .bytes_s = all.shards.bytes_s(),
                    .about = all.shards.gather.about || all.shards.reduce_scatter.about ||
                             all.shards.across.about};
  } else {
    all.exchange = sum_of(all.times.over_all);
  }
  if (!all.round.repeats)
    return all;
  all.without_overlap_s = without_overlap_s(setup, all);
  all.iteration_s = iteration_seconds(setup, all.round, all.times);
  if (!setup.traffic.compression.on() || setup.shards)
    return all;
  all.even = break_even(setup, routes, all.round, all.times);
  CollectiveTimes dense = all.times;
  dense.over_all = all.even->dense;
  all.dense_iteration_s = iteration_seconds(setup, all.round, dense);
  return all;
}

}  // namespace syncline

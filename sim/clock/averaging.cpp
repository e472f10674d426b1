#include "sim/clock/averaging.h"

#include <algorithm>
#include <utility>

#include "sim/schedule.h"

namespace syncline {
namespace {

// Each bucket is averaged over all so often in a round.
double averages_of_a_bucket(const Setup& setup, const Round& round) {
  double all = 0;
  for (const int calls : round.calls(Verb::start_average))
    all += calls;
  return all * setup.traffic.round / round.iterations / static_cast<double>(setup.buckets.size());
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
  const double passes = setup.shards ? 1 : averages_of_a_bucket(setup, all.round);
  all.without_overlap_s =
      std::ranges::max(setup.compute.solo_s) + setup.compute.launch_s +
      passes * (all.exchange.compress_s + all.exchange.exchange_s() + all.exchange.decompress_s);
  if (!all.round.repeats)
    return all;
  all.iteration_s = iteration_seconds(setup, all.round, all.times);
  if (!setup.traffic.compression.on() || setup.shards)
    return all;
  all.even = break_even(setup, routes, all.round, all.times.over_all);
  CollectiveTimes dense = all.times;
  dense.over_all = all.even->dense;
  all.dense_iteration_s = iteration_seconds(setup, all.round, dense);
  return all;
}

}  // namespace syncline

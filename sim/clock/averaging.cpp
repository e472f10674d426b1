#include "sim/clock/averaging.h"

#include "sim/clock/neighbours.h"
#include "sim/schedule.h"

namespace syncline {

std::optional<Averaging> averaging(const Setup& setup, Routes& routes) {
  if (setup.profiles.shown_s > 0)
    return std::nullopt;
  if (setup.traffic.partners == Schedule::Partners::neighbours)
    return averaging_with_neighbours(setup);
  if (setup.traffic.partners != Schedule::Partners::each_other)
    return std::nullopt;
  const Round round = recorded_round(setup);
  const CollectiveTimes times = collective_times(setup, routes);
  Averaging all;
  all.in_group = sum_of(times.within);
  if (setup.shards) {
    all.shards = sums_of(round, times);
    all.exchange = {.fixed_s = all.shards.fixed_s(),
                    .bytes_s = all.shards.bytes_s(),
                    .about = all.shards.gather.about || all.shards.reduce_scatter.about ||
                             all.shards.across.about};
  } else {
    all.exchange = sum_of(times.over_all);
  }
  if (!round.repeats)
    return all;
  all.without_overlap_s = iteration_seconds(setup, round, times, 1, false);
  all.iteration_s = iteration_seconds(setup, round, times);
  if (!setup.traffic.compression.on() || setup.shards)
    return all;
  all.even = break_even(setup, routes, round, times);
  return all;
}

}  // namespace syncline

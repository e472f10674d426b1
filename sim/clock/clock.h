// How long an iteration takes by the schedule's own worker function and by the closed forms of its
// exchanges, without simulating: for schedules in which workers wait for all others.
#pragma once

#include <vector>

#include "sim/clock/round.h"
#include "sim/platform/routes.h"
#include "sim/setup/setup.h"
#include "sim/traffic/exchange_time.h"

namespace syncline {

// Who stands for all: of the workers that take longest, one without a core for compression.
int slowest_worker(const Setup& setup);

// Seconds of each bucket's collectives while nothing else runs.
struct CollectiveTimes {
  std::vector<ExchangeTime> over_all, within;                // averages, of all and in a group
  std::vector<ExchangeTime> gather, reduce_scatter, across;  // of shards, and between groups

  // Whether a stage of any of them goes on when the next one may begin.
  bool have_tails() const;
};
CollectiveTimes collective_times(const Setup& setup, Routes& routes);

// All collectives of shards in an iteration, of one kind, one after the other.
struct ShardSums {
  ExchangeTime gather, reduce_scatter, across;

  double fixed_s() const { return gather.fixed_s + reduce_scatter.fixed_s + across.fixed_s; }
  double bytes_s() const { return gather.bytes_s + reduce_scatter.bytes_s + across.bytes_s; }
  double exchange_s() const { return fixed_s() + bytes_s(); }
};
ShardSums sums_of(const Round& round, const CollectiveTimes& times);

// Seconds of an iteration in the mean of a round that is as long as the one before, into which
// averages and gathers may reach. The slowest worker stands for all. It has a core, another one for
// compression where its host has two, and two communication streams that take collectives in the
// order in which it starts them: one for those over all and those of shards, one for averages in
// groups and shards between groups, which are taken not to slow each other. A core computes
// 1 + overlap-slowdown times as long while a collective moves bytes; work inside an exchange has
// half of the only core while that computes. Every bandwidth is multiplied by `bandwidth`. Throws
// std::runtime_error if the worker waits for what it never starts.
// Without `overlap` it is the scenario with `overlap = off`.
double iteration_seconds(const Setup& setup, const Round& round, const CollectiveTimes& times,
                         double bandwidth = 1, bool overlap = true);

}  // namespace syncline

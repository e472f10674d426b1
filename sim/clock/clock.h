// Computes how long an iteration takes, from the schedule's own worker function and the closed
// forms of its exchanges, without simulating. For schedules in which workers wait for all others.
#pragma once

#include <vector>

#include "sim/clock/lane.h"
#include "sim/clock/round.h"
#include "sim/platform/routes.h"
#include "sim/setup/setup.h"
#include "sim/traffic/exchange_time.h"

namespace syncline {

// The worker that stands for all: one of those that take longest, without a core for compression if
// possible.
int slowest_worker(const Setup& setup);

// Seconds of each bucket's collectives while nothing else runs.
struct CollectiveTimes {
  std::vector<ExchangeTime> over_all, within;  // averages over all workers, and in a group
  std::vector<ExchangeTime> gather, reduce_scatter, across;  // of shards, and across groups
  // What averages over all workers, or collectives of shards, share with those of the other stream.
  SharedLink shared = {};

  // True if a stage of any of them still runs when the next collective may begin.
  bool have_tails() const;
};
CollectiveTimes collective_times(const Setup& setup, Routes& routes);

// All collectives of shards in an iteration, summed by kind, one after the other.
struct ShardSums {
  ExchangeTime gather, reduce_scatter, across;

  double fixed_s() const { return gather.fixed_s + reduce_scatter.fixed_s + across.fixed_s; }
  double bytes_s() const { return gather.bytes_s + reduce_scatter.bytes_s + across.bytes_s; }
  double exchange_s() const { return fixed_s() + bytes_s(); }
};
ShardSums sums_of(const Round& round, const CollectiveTimes& times);

// Mean seconds of an iteration in a round that takes as long as the one before; averages and
// gathers may reach from one round into the next. The slowest worker stands for all. The worker has
// a core, and a second core for compression if its host has two. It has two communication streams,
// which take collectives in the order in which the worker starts them: one for averages over all
// workers and for shards; the other for averages in groups and for shards across groups. The two
// slow each other where they share a link. Computation takes 1 + overlap-slowdown times as long
// while a collective moves bytes. Work inside an exchange gets half of the only core while that
// core computes. Every bandwidth is multiplied by `bandwidth`. Without `overlap` the result is for
// `overlap = off`. Throws std::runtime_error if the worker waits for something that it never
// starts.
double iteration_seconds(const Setup& setup, const Round& round, const CollectiveTimes& times,
                         double bandwidth = 1, bool overlap = true);

}  // namespace syncline

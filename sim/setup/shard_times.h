// Closed forms of an iteration in which workers hold shards: they gather units of parameters and
// scatter their gradients.
#pragma once

#include <vector>

#include "sim/setup/exchange_time.h"
#include "sim/setup/setup.h"

namespace syncline {

// Seconds of each unit's collectives while nothing else runs.
struct ShardTimes {
  std::vector<ExchangeTime> gather, reduce_scatter;
  std::vector<ExchangeTime> across;  // empty: every shard is held once
};

// The setup has shards.
ShardTimes shard_times(const Setup& setup, Routes& routes);

// All collectives of an iteration of one kind, one after the other.
struct ShardSums {
  ExchangeTime gather, reduce_scatter, across;

  double fixed_s() const { return gather.fixed_s + reduce_scatter.fixed_s + across.fixed_s; }
  double bytes_s() const { return gather.bytes_s + reduce_scatter.bytes_s + across.bytes_s; }
  double exchange_s() const { return fixed_s() + bytes_s(); }
};
ShardSums sums_of(const Setup& setup, const ShardTimes& times);

// Seconds of one iteration, unit after unit, as sim/schedules/fsdp.cpp has them: the slowest
// worker's computation, and two streams that take collectives in the order in which it queues them.
// What moves inside groups and across them is taken not to slow each other.
double iteration_seconds(const Setup& setup, const ShardTimes& times);

}  // namespace syncline

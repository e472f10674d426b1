// What is known of a scenario's iterations without simulation, where workers wait for all others.
// `explain` prints this.
#pragma once

#include <optional>

#include "sim/clock/break_even.h"
#include "sim/clock/clock.h"

namespace syncline {

struct Averaging {
  // All buckets once, each as early as possible after the one before; with shards, all collectives
  // of an iteration.
  ExchangeTime exchange;
  ExchangeTime in_group;  // of all buckets, in a group
  ShardSums shards;
  // The mean iteration of a round, without overlap and with it. None: the rounds differ in what
  // workers do.
  std::optional<double> without_overlap_s;
  std::optional<double> iteration_s;
  std::optional<BreakEven> even;  // none: nothing compresses
};

// None if servers decide what workers do, or if the platform's profiles change the times of
// exchanges.
std::optional<Averaging> averaging(const Setup& setup, Routes& routes);

}  // namespace syncline

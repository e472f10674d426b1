// What can be said of a scenario's iterations before anything is simulated, where workers wait for
// all others: `explain` prints it.
#pragma once

#include <optional>

#include "sim/clock/break_even.h"
#include "sim/clock/clock.h"

namespace syncline {

struct Averaging {
  // All buckets once, one following the other as early as it can; with shards, all collectives of
  // an iteration.
  ExchangeTime exchange;
  ExchangeTime in_group;  // of all buckets in a group
  ShardSums shards;
  // Of the iteration of a round that averages over all, which waits for it, or, where a round has
  // several such, in their mean; and, with overlap, of one in the mean of a round.
  // None: what workers do differs from round to round.
  std::optional<double> without_overlap_s;
  std::optional<double> iteration_s;
  std::optional<BreakEven> even;            // where something compresses
  std::optional<double> dense_iteration_s;  // of its rival
};

// None: servers decide what workers do, or the platform's profiles change what an exchange takes.
std::optional<Averaging> averaging(const Setup& setup, Routes& routes);

}  // namespace syncline

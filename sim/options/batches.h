// How many samples: batch, accumulation and global-batch together.
#pragma once

#include <vector>

#include "sim/options/resolve.h"
#include "sim/scenario.h"

namespace syncline {

// With `global_batch`, sets `accumulation` where `batch` is given, else `batch`, also as they are
// written. Refuses what is no whole number, too many samples, and three that do not agree.
void resolve_batches(const GivenOptions& given, Scenario& scenario,
                     std::vector<Conflict>& conflicts);

}  // namespace syncline

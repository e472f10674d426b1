// Number of samples: batch, accumulation and global-batch together.
#pragma once

#include <vector>

#include "sim/options/resolve.h"
#include "sim/scenario.h"

namespace syncline {

// With `global_batch`, sets `accumulation` if `batch` is given, else `batch`, including their texts
// in `written`. Conflicts are: a `global_batch` without `workers`, or one that they cannot share
// equally; three options that do not agree; and too many samples.
void resolve_batches(const GivenOptions& given, Scenario& scenario,
                     std::vector<Conflict>& conflicts);

}  // namespace syncline

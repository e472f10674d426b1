// Which tensors are sent together.
#pragma once

#include <vector>

#include "sim/scenario.h"
#include "sim/setup/compute.h"
#include "sim/setup/model.h"
#include "sim/traffic/traffic.h"

namespace syncline {

// By bytes alone.
std::vector<Bucket> fused(const Model& model, const Scenario& scenario, const Fusion& fusion);

// Each of these is one transfer of an iteration.
std::vector<Bucket> sent(const Traffic& traffic, const Bucket& model_bucket,
                         std::vector<Bucket> buckets);

// What a cycle of fusion-cycle lasts: as long as all workers take to agree on what they have made,
// at least. That is counted as one small all-reduce by recursive doubling, as of the bits that
// Horovod's ranks exchange (response_cache.cc). 0: there are no cycles, as with one worker, which
// has nobody to wait for.
double cycle_seconds(const Scenario& scenario, const Traffic& traffic);

// As the scenario says, with cycles of this length. Throws std::invalid_argument if the cost tables
// lack a price of what is sent.
std::vector<Bucket> buckets_of(const Scenario& scenario, const Model& model,
                               const ComputeTimes& compute, const Traffic& traffic,
                               const Bucket& model_bucket);

}  // namespace syncline

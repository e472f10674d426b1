// Decides which tensors are sent together.
#pragma once

#include <vector>

#include "sim/scenario.h"
#include "sim/setup/compute.h"
#include "sim/setup/model.h"
#include "sim/traffic/traffic.h"

namespace syncline {

// Buckets by bytes alone.
std::vector<Bucket> fused(const Model& model, const Scenario& scenario, const Fusion& fusion);

// The transfers of one iteration.
std::vector<Bucket> sent(const Traffic& traffic, const Bucket& model_bucket,
                         std::vector<Bucket> buckets);

// Length of a cycle of fusion-cycle: at least the time in which all workers agree on the tensors
// that they have ready. That time is one small all-reduce by recursive doubling, like the
// all-reduce of bits among Horovod's ranks (response_cache.cc). 0: there are no cycles, for example
// because there is only one worker.
double cycle_seconds(const Scenario& scenario, const Traffic& traffic);

// The groups of these tensors that cycles send in a run without jitter, by when the slowest worker
// has them ready. Each tensor is compressed by itself.
std::vector<Bucket> cycled(const Scenario& scenario, const Model& model,
                           const ComputeTimes& compute, const Traffic& traffic,
                           const std::vector<Bucket>& tensors);

// The buckets that the scenario asks for, with cycles of this length. Throws std::invalid_argument
// if the cost tables lack a price of a message.
std::vector<Bucket> buckets_of(const Scenario& scenario, const Model& model,
                               const ComputeTimes& compute, const Traffic& traffic,
                               const Bucket& model_bucket);

}  // namespace syncline

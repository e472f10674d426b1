// `exchange = nccl`: the algorithm and protocol that NCCL takes for each size, and how long they
// take, from NCCL's own model (nccl_tuning.h) and the links of this platform.
#pragma once

#include <vector>

#include "sim/plan.h"
#include "sim/platform/routes.h"
#include "sim/traffic/exchange_choice.h"
#include "sim/traffic/traffic.h"

namespace syncline {

// Makes the traffic take NCCL's way for each of these dense payloads, and returns the seconds
// by NCCL's model of all ways that it has. Their bandwidth is that of the busiest link here, their
// latency NCCL's. The transfers are those of the candidate (`ring` or `tree`) with the protocol's
// bytes:
// - Where they take less than NCCL's model, they begin later by the difference. Those of a tree
//   move all at once, as NCCL's chunks are short (not where SimGrid's flows have latencies:
//   Network::latency_after_flow). NVLSTree has those of chains of GPUs, so it takes 2 b over NVLink
//   at least.
// - Platforms in words have the latencies of NCCL's protocol Simple. A faster protocol lowers the
//   latencies of the plan by what NCCL's constants differ, but not below its own; a platform with
//   longer latencies keeps the rest. All stay where SimGrid's flows have them.
std::vector<ExchangeChoice> choose_as_nccl(const Scenario& scenario, Traffic& traffic,
                                           Routes& routes, const std::vector<Payload>& payloads);

}  // namespace syncline

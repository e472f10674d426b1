// `exchange = auto`: the cheapest exchange for each bucket, by closed form; and `nccl`: NCCL's.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/plan.h"
#include "sim/platform/routes.h"
#include "sim/traffic/traffic.h"

namespace syncline {

// The choice for all buckets of one size.
struct ExchangeChoice {
  std::uint64_t bytes = 0;  // of the gradient
  int buckets = 0;
  // Seconds that each candidate, or each of NCCL's ways by its own model, takes for one of these
  // buckets while nothing else runs, the cheapest first. Equally cheap candidates are in their own
  // order.
  std::vector<std::pair<std::string, double>> seconds;
};

// Makes the traffic take the cheapest of the scenario's candidates for each bucket
// (exchange_time(), sim/traffic/exchange_time.h), and returns the times of all candidates. Leaves
// out candidates that do not support the cluster; a ring always does.
std::vector<ExchangeChoice> choose_exchanges(const std::vector<CandidateExchange>& candidates,
                                             Traffic& traffic, Routes& routes,
                                             const std::vector<Bucket>& buckets);

// Makes the traffic take what the scenario leaves to be chosen: the cheapest, or NCCL's choice
// (sim/traffic/nccl_choice.h). `tensors`: those that a run makes groups of, if it does; their sizes
// take the nearest choice. Empty if the scenario names an exchange.
std::vector<ExchangeChoice> exchanges_chosen(const Scenario& scenario, Traffic& traffic,
                                             const std::vector<Bucket>& buckets,
                                             const std::vector<Bucket>& tensors);

// Words for the result: "ring for 16 buckets of 21 to 26 MB (tree would take 1.2 times as long),
// tree for 1 of 0.9 MB (...)". Empty if there was nothing to choose.
std::string described(const std::vector<ExchangeChoice>& choices);

}  // namespace syncline

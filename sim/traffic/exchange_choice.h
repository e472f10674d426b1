// `exchange = auto`: the cheapest exchange for each bucket, by closed form.
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
  // Seconds that each candidate takes for one of these buckets while nothing else runs, the
  // cheapest first. Equally cheap candidates are in their own order.
  std::vector<std::pair<std::string, double>> seconds;
};

// Makes the traffic take the cheapest of the scenario's candidates for each bucket
// (exchange_time(), sim/traffic/exchange_time.h), and returns the times of all candidates. Leaves
// out candidates that do not support the cluster; a ring always does.
std::vector<ExchangeChoice> choose_exchanges(const std::vector<CandidateExchange>& candidates,
                                             Traffic& traffic, Routes& routes,
                                             const std::vector<Bucket>& buckets);

// Words for the result: "ring for 16 buckets of 21 to 26 MB (tree would take 1.2 times as long),
// tree for 1 of 0.9 MB (...)". Empty if there was nothing to choose.
std::string described(const std::vector<ExchangeChoice>& choices);

}  // namespace syncline

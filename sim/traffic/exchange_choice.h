// `exchange = auto`: the cheapest exchange for each bucket, by closed form.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/plan.h"
#include "sim/platform/routes.h"
#include "sim/traffic/traffic.h"

namespace syncline {

// For all buckets of one size.
struct ExchangeChoice {
  std::uint64_t bytes = 0;  // of a gradient
  int buckets = 0;
  // What each candidate takes for one of them while nothing else runs, the cheapest first; equally
  // cheap ones in the order of the candidates.
  std::vector<std::pair<std::string, double>> seconds;
};

// Makes the traffic take the cheapest of the scenario's candidates for each bucket
// (exchange_time(), sim/traffic/exchange_time.h), and returns what it was chosen from. Those that
// do not support the cluster are left out; a ring always does.
std::vector<ExchangeChoice> choose_exchanges(const std::vector<CandidateExchange>& candidates,
                                             Traffic& traffic, Routes& routes,
                                             const std::vector<Bucket>& buckets);

// In words, for the result: "ring for 16 buckets of 21 to 26 MB (tree would take 1.2 times as
// long), tree for 1 of 0.9 MB (...)"; empty where nothing was to choose.
std::string described(const std::vector<ExchangeChoice>& choices);

}  // namespace syncline

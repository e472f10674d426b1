// What won where cells learn: who reached the target first, or ended with the least loss.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "sim/report/ranking.h"

namespace syncline {

// The ranking by throughput, of what did not diverge, with what was learned: its sentences, and
// where there is a target the cells in the order in which they reached it.
Ranking with_learning(const std::vector<nlohmann::ordered_json>& results,
                      Ranking (*by_throughput)(const std::vector<nlohmann::ordered_json>&));

}  // namespace syncline

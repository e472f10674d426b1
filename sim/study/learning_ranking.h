// What won where cells learn: who reached the target first, or ended with the least loss.
#pragma once

#include <vector>

#include "sim/study/ranking.h"

namespace syncline {

// The ranking by throughput, of what did not diverge, with what was learned: its sentences, and
// where there is a target the cells in the order in which they reached it.
Ranking with_learning(const std::vector<Result>& results,
                      Ranking (*by_throughput)(const std::vector<Result>&));

}  // namespace syncline

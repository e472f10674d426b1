// The ranking of cells that learn: who reached the target first, or ended with the least loss.
#pragma once

#include <vector>

#include "sim/study/ranking.h"

namespace syncline {

// Ranks the results in these places.
using RankPlaces = Ranking (*)(const std::vector<Result>& results,
                               const std::vector<std::size_t>& places);

// The ranking by throughput, of what did not diverge, has what was learned in its sentences, and
// where there is a target the cells are in the order in which they reached it.
Ranking with_learning(const std::vector<Result>& results, RankPlaces by_throughput);

}  // namespace syncline

// The option best-of: of cells that differ in what it names only, one is compared with others.
#pragma once

#include <string>
#include <vector>

#include "sim/result.h"

namespace syncline {

// Of cells, each with its repetitions by seed, those that are the best of their kind on the seeds
// that choose. They keep the other seeds, unless they have no others. `notes` says how.
std::vector<std::vector<Result>> best_of(std::vector<std::vector<Result>> cells,
                                         std::vector<std::string>& notes);

// Whether a, with what it has learned or its throughput, is chosen before b.
bool is_better(const Result& a, const Result& b);

}  // namespace syncline

// The option best-of: of cells that differ only in the options that it names, one is compared.
#pragma once

#include <string>
#include <vector>

#include "sim/result.h"

namespace syncline {

// Of cells, each with its repetitions by seed: the best of each kind on the seeds that choose.
// These keep their other seeds, or all seeds if they have no others. `notes` says how they were
// chosen.
std::vector<std::vector<Result>> best_of(std::vector<std::vector<Result>> cells,
                                         std::vector<std::string>& notes);

// Whether a is chosen before b: by what they have learned, or by throughput.
bool is_better(const Result& a, const Result& b);

}  // namespace syncline

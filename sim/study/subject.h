// The subject of figures, for their captions and file names.
#pragma once

#include <string>
#include <vector>

#include "sim/result.h"
#include "sim/study/study.h"

namespace syncline {

// The model, batch, platform and network of these results: "resnet50, batch 32, gbe-32x1, network
// exact". Up to three values are named; of more values the number is given. No two subjects among
// `all` are the same.
std::string subject_of(const std::vector<const Result*>& results, const std::vector<Result>& all);
// The subject of all cells, and of the cells of a case.
std::string subject_of(const Study& study);
std::string subject_of(const Study& study, std::size_t in_case);

}  // namespace syncline

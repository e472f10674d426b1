// What figures are of, in their captions and files' names.
#pragma once

#include <string>
#include <vector>

#include "sim/result.h"
#include "sim/study/study.h"

namespace syncline {

// The model, batch, platform and network of these results: "resnet50, batch 32, gbe-32x1, network
// exact". Of several values up to three, then how many there are. Among `all` no two are called the
// same.
std::string subject_of(const std::vector<const Result*>& results, const std::vector<Result>& all);
// Of all cells; of those of a case.
std::string subject_of(const Study& study);
std::string subject_of(const Study& study, std::size_t in_case);

}  // namespace syncline

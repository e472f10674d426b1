// What options, their values, and the subjects of figures are called.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/study/comparison.h"

namespace syncline {

// "32 workers", "density 0.01", "precision fp16": an option and its value.
std::string setting_shown(const std::string& option, const std::string& value);
// The same, but "asp", "fp16": some values speak for themselves.
std::string short_setting(const std::string& option, const std::string& value);

// The names of an option's values in these results, by value, all different. `shortest`: names of
// platforms in words have only what tells them apart.
std::map<std::string, std::string> names_of_values(const Results& results,
                                                   const std::string& option, bool shortest);

// "bsp over ring with topk, density 0.01", from the options in `told`.
std::string choice_shown(const Result& result, const Words& told);

// "workers-8_schedule-bsp" from the swept options of a cell; "result" without any.
std::string cell_name(const std::map<std::string, std::string>& written, const Words& swept);

// The model, batch, platform and network of these results: "resnet50, batch 32, gbe-32x1, network
// exact". Up to three values are named; of more values the number is given. No two subjects among
// `all` are the same.
std::string subject_of(const std::vector<const Result*>& results, const Results& all);
// The subject of all cells, or of the cells of a case.
std::string subject_of(const Comparison& compared, std::optional<std::size_t> in_case = {});

}  // namespace syncline

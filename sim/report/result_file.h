// Results as files, and between processes.
#pragma once

#include <optional>
#include <string>

#include "sim/result.h"

namespace syncline {

// The text in which it is stored has a line per member, but one for each track of the timeline and
// each column of what was learned.
std::string text_of(const Result& result);
std::optional<Result> result_in(const std::string& text);
// The result in this file; none where there is none of ours.
std::optional<Result> read_result(const std::string& path);

}  // namespace syncline

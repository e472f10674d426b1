// Results as JSON: what is stored, printed, read again and passed between processes. Nothing else
// knows how a result stands in a file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/report/figures.h"
#include "sim/result.h"

namespace syncline {

// {schema, tool, build, simgrid, inputs, scenario, provenance, figures, timeline}; where something
// was learned, also `learning` before the timeline, and at the end `trace`, if one was kept.
// Numbers read back to the same bits.
nlohmann::ordered_json to_json(const Result& result);
nlohmann::ordered_json to_json(const std::vector<WrittenOption>& options);
// Reads a result; none where the JSON is not what to_json makes, as far as its form tells: a member
// is missing, or is of another kind, or a number out of range, or a text that cannot be printed.
// Members that are not known are left out.
std::optional<Result> from_json(const nlohmann::ordered_json& json);

// The text in which it is stored has a line per member, but one for each track of the timeline and
// each column of what was learned.
std::string text_of(const Result& result);
std::optional<Result> result_in(const std::string& text);
// The result in this file; none where there is none of ours.
std::optional<Result> read_result(const std::string& path);

// A figure that is a number as JSON has it; empty where it is null or the result has it not.
std::string figure_text(const Figure& figure, const Result& result);
// The fewest digits that read back to the same double.
std::string exact_text(double number);

}  // namespace syncline

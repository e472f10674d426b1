// Results as JSON, in which they are stored, printed, read again and passed between processes. No
// other code knows the form of a result in a file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/report/figures.h"
#include "sim/result.h"

namespace syncline {

// {schema, tool, build, simgrid, inputs, scenario, provenance, figures, timeline}; if something was
// learned, also `learning` before the timeline; if a trace was kept, `trace` at the end. Numbers
// read back to the same bits.
nlohmann::ordered_json to_json(const Result& result);
nlohmann::ordered_json to_json(const std::vector<WrittenOption>& options);
// Reads a result; none if the JSON does not have the form that to_json writes: a member is missing
// or of another kind, a number is out of range, or a text cannot be printed. Unknown members are
// ignored.
std::optional<Result> from_json(const nlohmann::ordered_json& json);

// The text of a result's file: a line per member, and a line for each track of the timeline and for
// each column of what was learned.
std::string text_of(const Result& result);
std::optional<Result> result_in(const std::string& text);
// The result in this file; none if it has none.
std::optional<Result> read_result(const std::string& path);

// A figure that is a number, as in JSON; empty if it is null or not in the result.
std::string figure_text(const Figure& figure, const Result& result);
// The fewest digits that read back to the same double.
std::string exact_text(double number);

}  // namespace syncline

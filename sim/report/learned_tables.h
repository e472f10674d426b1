// The tables in what a run has learned, `learning` of its result: objects of columns, arrays of one
// length. Each is also a file beside the result, CELL.<name>.csv.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/learned.h"

namespace syncline {

// Their names, in the order of the JSON: curve, compression and histogram.
extern const std::vector<std::string> learned_tables;
// The table of this name. A number that is not finite, or is not there, is null in it.
nlohmann::ordered_json learned_table(const std::string& name, const Learned& learned);
// Whether any JSON is what the above makes.
bool is_learned_table(const std::string& name, const nlohmann::ordered_json& table);

// Of a result that learns, the text of the file. Each number reads back to the same double. Empty
// where nothing was compressed, so that there is no such table.
std::string table_csv(const nlohmann::ordered_json& result, const std::string& name);
// How the text of such a file begins, of this version and of older ones.
std::string table_csv_begin(const std::string& name);

}  // namespace syncline

// The documents that --json prints.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/result.h"
#include "sim/study/pooled.h"

namespace syncline {

class Routes;
struct Setup;

// {cells: [{cell, result}], ranking: {sentences, fastest_first}, left_out, missing}, with one name
// for each result. `without` says which cells are not in the ranking. If cells that differ in their
// seed were pooled, or one of several cells was chosen, the ranking is of the pool's cells and also
// has {notes, pooled: [{cells, figures, least, most}]}.
nlohmann::ordered_json results_json(const std::vector<Result>& results,
                                    const std::vector<std::string>& names, const Pool& pool,
                                    const std::vector<std::string>& left_out,
                                    const std::vector<std::string>& missing,
                                    const std::string& without = "");

// The document of `explain --json` for a scenario.
nlohmann::ordered_json explained(const Setup& setup, Routes& routes);

nlohmann::ordered_json or_null(const std::optional<double>& number);

// Prints one document to stdout.
void print_json(const nlohmann::ordered_json& document);

}  // namespace syncline

// The documents that --json prints.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/result.h"
#include "sim/study/against.h"
#include "sim/study/pooled.h"
#include "sim/study/verdict.h"

namespace syncline {

class Routes;
struct Setup;

// {cells: [{cell, result}], ranking: {sentences, fastest_first}, left_out, missing}; one name for
// each result. `without` says which cells the ranking is without. Where seeds are repetitions, or
// one of several cells was chosen, the ranking is of what the pool makes of them, and has that:
// {notes, pooled: [{cells, figures, least, most}]}.
nlohmann::ordered_json results_json(const std::vector<Result>& results,
                                    const std::vector<std::string>& names, const Pool& pool,
                                    const std::vector<std::string>& left_out,
                                    const std::vector<std::string>& missing,
                                    const std::string& without = "");

// Numbers are numbers, and null where there are none.
nlohmann::ordered_json verdicts_json(const std::vector<Verdict>& verdicts);
// {base, note, verdicts, replaced}.
nlohmann::ordered_json against_json(const BaseComparison& against);

// What `explain --json` says of a scenario.
nlohmann::ordered_json explained(const Setup& setup, Routes& routes);

// One document on stdout.
void print_json(const nlohmann::ordered_json& document);

}  // namespace syncline

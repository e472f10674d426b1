// What --json prints of results.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace syncline {

// {cells: [{cell, result}], ranking: {sentences, fastest_first}, left_out, missing}; one name for
// each result.
nlohmann::ordered_json results_json(const std::vector<nlohmann::ordered_json>& results,
                                    const std::vector<std::string>& names,
                                    const std::vector<std::string>& left_out,
                                    const std::vector<std::string>& missing);

}  // namespace syncline

// The result of one simulation, as it is stored and printed: one JSON object per cell of a sweep,
// and rows of a table.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/report/report.h"
#include "sim/report/timeline.h"
#include "sim/scenario.h"

namespace syncline {

struct Provenance {
  std::string compute;      // where seconds of computation come from
  std::string compression;  // cost tables and their own provenance; empty: nothing compresses
  std::string adding;       // memory rate of servers and nodes; empty: there are none
  std::string network;      // the model's sentence
  std::string simgrid;      // version
  std::string build;        // fingerprint of the program
  std::string inputs;       // fingerprint of the files that were read
};

constexpr int result_schema = 3;

std::string tool_version();  // "syncline 0.3.0"

// Every option's text, given or default; a cell's name first.
nlohmann::ordered_json scenario_json(const Scenario& scenario);

// {schema, tool, build, simgrid, inputs, scenario, provenance, figures, timeline}.
nlohmann::ordered_json to_json(const Scenario& scenario, const Provenance& provenance,
                               const Report& report, const Timeline& timeline);
// As it is stored: a line per member, but one for each track of the timeline.
std::string result_text(const nlohmann::ordered_json& result);

// Whether it has every part of what to_json makes, of the same kind, and no others but `trace`:
// what follows may then be called with it.
bool is_result(const nlohmann::ordered_json& json);

// "workers-8_schedule-bsp" from the swept options of a cell; "result" without any.
std::string cell_name(const nlohmann::ordered_json& result, const std::vector<std::string>& swept);

// A line per cell: the swept options, then the main figures.
std::string comparison_table(const std::vector<nlohmann::ordered_json>& results,
                             const std::vector<std::string>& swept);
// All figures of one cell.
std::string full_report(const nlohmann::ordered_json& result);
// All options and figures, one line per cell.
std::string results_csv(const std::vector<nlohmann::ordered_json>& results);

}  // namespace syncline

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
  std::string compute;            // where seconds of computation come from
  std::string compression;        // cost tables and their own provenance; empty: nothing compresses
  std::string adding;             // memory rate of servers and nodes; empty: there are none
  std::string network;            // the model's sentence
  std::string fidelity = "step";  // what it came to: step or flow
  std::string simgrid;            // version
  std::string build;              // fingerprint of the program
  std::string inputs;             // fingerprint of the files that were read
};

constexpr int result_schema = 3;  // experiments/result.schema.json describes it

std::string tool_version();  // "syncline 0.3.0"

// {schema, tool, build, simgrid, inputs, scenario, provenance, figures, timeline}; where something
// was learned, also `learning` before the timeline. `written` are the options of the scenario by
// name (sim/commands/written.h).
nlohmann::ordered_json to_json(const Scenario& scenario, const nlohmann::ordered_json& written,
                               const Provenance& provenance, const Report& report,
                               const Timeline& timeline);
// As it is stored: a line per member, but one for each track of the timeline and each column of the
// curve.
std::string result_text(const nlohmann::ordered_json& result);

// The names of all figures that are numbers, or null, in some result: also of one that learns.
std::vector<std::string> number_figures();

// Whether it has every part of what to_json makes, of the same kind, and no others but `trace`:
// what follows may then be called with it.
bool is_result(const nlohmann::ordered_json& json);

// "workers-8_schedule-bsp" from the swept options of a cell; "result" without any.
std::string cell_name(const std::map<std::string, std::string>& written,
                      const std::vector<std::string>& swept);

// Whether every step was simulated, or many as one flow: what `fidelity` came to.
std::string fidelity_of(const nlohmann::ordered_json& result);

// The value of an option in a result; empty if it was not given and has no default.
std::string option_text(const nlohmann::ordered_json& result, const std::string& option);

// The options that two of the results have with different values, in alphabetical order: also those
// that nobody wrote, as the exchange that a compressor needs. Not those that mean something to some
// of them only.
std::vector<std::string> differing_options(const std::vector<nlohmann::ordered_json>& results);

}  // namespace syncline

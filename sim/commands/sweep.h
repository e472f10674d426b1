// Cells of a sweep, each simulated in a process of its own.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/commands/process.h"
#include "sim/scenario.h"

namespace syncline {

struct SweepCell {
  Scenario scenario;
  std::string trace_path;  // where to write its trace; empty: nowhere
};

struct CellResult {
  nlohmann::ordered_json result;
  std::string error;  // a line, when there is no result
};

// Simulates all cells, `at_once` at a time, with a progress line on a terminal. Returns one result
// or error per cell, in order; `ended` sees each result as it comes.
std::vector<CellResult> simulate_all(
    const std::vector<SweepCell>& cells, int at_once,
    const std::function<void(std::size_t, const nlohmann::ordered_json&)>& ended);

// What the files that a scenario reads hold, so that a finished cell can be told from one of other
// files under the same names.
std::string inputs_of(const Scenario& scenario);

// The error of a cell's process, as a line.
std::string error_of(const Scenario& scenario, const Outcome& outcome);

}  // namespace syncline

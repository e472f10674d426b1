// Cells of a sweep, each simulated in a process of its own.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/commands/exports.h"
#include "sim/commands/limits.h"
#include "sim/commands/process.h"
#include "sim/options/expand.h"
#include "sim/scenario.h"

namespace syncline {

struct SweepCell {
  Scenario scenario;
  std::string result_path = {};  // where its process writes its result; empty: nowhere
  std::string trace_csv = {};    // and its trace
  // How the files of what it learned begin, if it learns: PATH.curve.csv and others. Empty: none.
  std::string learned_path = {};
  Exports exports = {};

  bool keeps_messages() const { return !trace_csv.empty() || exports.any(); }
};

struct CellResult {
  nlohmann::ordered_json result;
  std::string error;  // a line, when there is no result
};

// Simulates all cells, `at_once` at a time and the longest first (sim/commands/turns.h), and shows
// how far it is. Calls `ended` with each result or error as soon as it is there. Throws if SimGrid
// fails its self-test (sim/engine/self_test.h), which comes first; if a file cannot be written; and
// Interrupted.
void simulate_all(const std::vector<SweepCell>& cells, int at_once, const Limits& limits,
                  const std::function<void(std::size_t, CellResult)>& ended);

// The result in this file; null where there is none of ours, as far as its form tells.
nlohmann::ordered_json read_result(const std::string& path);

// Whether this is the whole result of this very cell: of the same scenario, files and versions of
// the program and of SimGrid, and with the traces that were written with it, where they are wanted.
bool is_finished(const SweepCell& cell, const nlohmann::ordered_json& result);

// Writes the tables of what the result says was learned (sim/report/learned_tables.h) beside it,
// each that is not there already: so a file that was lost, or changed, is made again without
// simulating. Those of an older result that this one has not are removed.
void keep_learned(const SweepCell& cell, const nlohmann::ordered_json& result);

// The error of a cell's process, in one line.
std::string error_of(const Scenario& scenario, const Outcome& outcome);

// Prints which cells a sweep leaves out, and each of these errors of others once. Returns the exit
// code.
int print_left_out(const Sweep& sweep, const std::vector<std::string>& errors);

}  // namespace syncline

// Cells of a sweep, each simulated in a process of its own.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/commands/limits.h"
#include "sim/commands/process.h"
#include "sim/options/expand.h"
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

// Simulates all cells, `at_once` at a time and the longest first, with a progress line on a
// terminal. Returns one result or error per cell, in order, and calls `ended` with each result as
// soon as it is there. Throws if SimGrid fails its self-test (sim/engine/self_test.h), which comes
// first.
std::vector<CellResult> simulate_all(
    const std::vector<SweepCell>& cells, int at_once, const Limits& limits,
    const std::function<void(std::size_t, const nlohmann::ordered_json&)>& ended);

// The order in which cells begin, so that none is still running long after all others. Where they
// need not wait for each other, it is theirs.
std::vector<std::size_t> longest_first(const std::vector<SweepCell>& cells, int at_once,
                                       const Limits& limits);

// Fingerprint of all files a scenario reads, so that a finished cell is not kept after one of them
// has changed.
std::string inputs_of(const Scenario& scenario);

// The result in this file; null where there is none of ours, as far as its form tells.
nlohmann::ordered_json read_result(const std::string& path);

// Whether this is the whole result of this very cell: of the same scenario, files and versions of
// the program and of SimGrid, and with the trace that was written with it, where one is wanted.
bool is_finished(const SweepCell& cell, const nlohmann::ordered_json& result);

// The error of a cell's process, in one line.
std::string error_of(const Scenario& scenario, const Outcome& outcome);

// Prints which cells a sweep leaves out, and each of these errors of others once. Returns the exit
// code.
int print_left_out(const Sweep& sweep, const std::vector<std::string>& errors);

}  // namespace syncline

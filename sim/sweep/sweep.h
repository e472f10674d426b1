// Cells of a sweep, each simulated in a process of its own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/options/expand.h"
#include "sim/result.h"
#include "sim/scenario.h"
#include "sim/sweep/limits.h"
#include "sim/sweep/process.h"
#include "sim/sweep/sweep_cell.h"

namespace syncline {

struct CellResult {
  std::optional<Result> result;
  std::string error;  // one line, if there is no result
};

// Throws std::runtime_error, one line, if SimGrid fails its self-test (sim/engine/self_test.h).
void test_simgrid();

// Simulates all cells, `at_once` at a time and the longest first (sim/sweep/longest_first.h), and
// shows its progress. Calls `ended` with each result or error as soon as it is there. Calls
// test_simgrid() first. Throws also if a file cannot be written, and Interrupted.
void simulate_all(const std::vector<SweepCell>& cells, int at_once, const Limits& limits,
                  const std::function<void(std::size_t, CellResult)>& ended);

// The error of a cell's process, in one line.
std::string error_of(const Scenario& scenario, const Outcome& outcome);

// Prints which cells a sweep leaves out, and each different error of other cells once. Returns the
// exit code.
int print_left_out(const Sweep& sweep, const std::vector<std::string>& errors);

}  // namespace syncline

// A cell's trace in the formats of other programs.
#pragma once

#include <string>

#include "sim/options/expand.h"
#include "sim/options/user_input.h"
#include "sim/setup/setup.h"
#include "sim/sweep/output_paths.h"
#include "sim/trace.h"

namespace syncline {

// Paths; empty: not wanted.
struct Exports {
  std::string trace;        // write_perfetto() of sim/traces/traces.h
  std::string goal;         // write_goal(): one iteration
  std::string chakra;       // write_chakra(): one iteration, PATH.RANK.json for each worker
  OutputPaths places = {};  // of all other files of the command

  bool any() const { return !trace.empty() || !goal.empty() || !chakra.empty(); }
};

// Reads the flags `trace`, `goal` and `chakra`; a `trace` without a file is none of them. Throws if
// there are several cells, if a format cannot express the cell, or if a file cannot be written. The
// number of `chakra` files is only known from the cell's setup: see check_exports.
Exports exports_of(const CommandLine& line, const Sweep& sweep, OutputPaths& places);

// Throws std::runtime_error if a file of `chakra` cannot be written.
void check_exports(const Exports& exports, const Setup& setup);

// Each file is whole or absent.
void write_exports(const Exports& exports, const Setup& setup, const Trace& trace);

}  // namespace syncline

// A cell's trace for other programs: where they are wanted.
#pragma once

#include <string>

#include "sim/options/expand.h"
#include "sim/options/user_input.h"
#include "sim/setup/setup.h"
#include "sim/sweep/places.h"
#include "sim/trace.h"

namespace syncline {

// Paths; empty: not wanted.
struct Exports {
  std::string trace;   // sim/traces/perfetto.h
  std::string goal;    // one iteration, sim/traces/goal.h
  std::string chakra;  // one iteration, sim/traces/chakra.h: PATH.RANK.json for each worker
  Places places = {};  // of all other files of the command

  bool any() const { return !trace.empty() || !goal.empty() || !chakra.empty(); }
};

// The flags `trace`, `goal` and `chakra`; a `trace` without a file is not among them. Throws if
// there are several cells, one that a format has no words for, or where a file has no place. It is
// the setup of the cell that knows how many files of `chakra` there are: check_exports.
Exports exports_of(const CommandLine& line, const Sweep& sweep, Places& places);

// Throws std::runtime_error where a file of `chakra` has no place.
void check_exports(const Exports& exports, const Setup& setup);

// Each file is whole or absent.
void write_exports(const Exports& exports, const Setup& setup, const Trace& trace);

}  // namespace syncline

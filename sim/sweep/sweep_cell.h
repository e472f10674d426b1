// A cell of a sweep and the files that it writes.
#pragma once

#include <string>
#include <vector>

#include "sim/result.h"
#include "sim/scenario.h"
#include "sim/setup/setup.h"
#include "sim/sweep/exports.h"
#include "sim/trace.h"

namespace syncline {

struct SweepCell {
  Scenario scenario;
  std::string result_path = {};  // where its process writes its result; empty: nowhere
  std::string trace_csv = {};    // where it writes its trace; empty: nowhere
  // The paths of tables of what was learned begin with this: PATH.curve.csv and others. Empty:
  // none.
  std::string learned_path = {};
  Exports exports = {};

  // All of these files that the cell may write.
  std::vector<std::string> kept_files() const;
  bool keeps_messages() const { return !trace_csv.empty() || exports.any(); }
  // Of the whole run.
  bool keeps_trace() const { return !trace_csv.empty() || !exports.trace.empty(); }
};

// The maker of a result: "syncline 0.3.0", and a fingerprint of the program, because programs of
// one version differ between releases.
std::string tool_version();
std::string build_of_program();

// Writes the files that the cell asks for, the result last, and stores the trace's fingerprint in
// the result. Throws std::runtime_error if a file cannot be written.
void write_files(const SweepCell& cell, const Setup& setup, const Trace& trace, Result& result);

// Whether this is the complete result of this very cell: of the same scenario, input files, program
// and version of SimGrid, and with the traces that were written with it, if traces are asked for.
bool is_finished(const SweepCell& cell, const Result& result);

// Writes the tables of what was learned (sim/report/learned_tables.h) beside the result, except
// those that are already there: a table that was lost or changed is made again without simulating.
// Removes tables of an older result that this result does not have.
void keep_learned(const SweepCell& cell, const Result& result);

}  // namespace syncline

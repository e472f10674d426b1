// A cell of a sweep and the files that it leaves.
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
  std::string trace_csv = {};    // and its trace
  // The files of what it learned begin so, if it learns: PATH.curve.csv and others. Empty: none.
  std::string learned_path = {};
  Exports exports = {};

  // All of these that it may leave.
  std::vector<std::string> kept_files() const;
  bool keeps_messages() const { return !trace_csv.empty() || exports.any(); }
  bool keeps_trace() const { return !trace_csv.empty() || !exports.trace.empty(); }  // of the run
};

// The maker of a result: "syncline 0.3.0", and a fingerprint of the program, since between releases
// programs of one version differ.
std::string tool_version();
std::string build_of_program();

// Writes the files that the cell wants, the result's own last, and notes in it which trace is its
// own. Throws std::runtime_error where one cannot be written.
void write_files(const SweepCell& cell, const Setup& setup, const Trace& trace, Result& result);

// Whether this is the whole result of this very cell: of the same scenario, files and versions of
// the program and of SimGrid, and with the traces that were written with it, where they are wanted.
bool is_finished(const SweepCell& cell, const Result& result);

// Writes the tables of what the result says was learned (sim/report/learned_tables.h) beside it,
// each that is not there already: so a file that was lost, or changed, is made again without
// simulating. Those of an older result that this one has not are removed.
void keep_learned(const SweepCell& cell, const Result& result);

}  // namespace syncline

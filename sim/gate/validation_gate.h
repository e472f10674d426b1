// A validation folder: scenarios, each with what was measured. The gate of `validate`: limits of
// errors, and a baseline whose errors no row, no folder's median and no median of all rows may
// exceed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/gate/verdict.h"
#include "sim/options/user_input.h"
#include "sim/study/validation.h"
#include "sim/sweep/sweep.h"

namespace syncline {

struct ValidationFolder {
  std::string path;
  std::vector<ValidationRow> rows;
  std::vector<SweepCell> cells;  // one per row

  std::string csv() const { return path + "/measured.csv"; }
};

// With which numbers a folder is simulated. fitted: its own. nominal: options in nominal.cfg
// replace those of rows, so that nothing is fitted. typical: options in typical.cfg, if there is
// one, replace these, with what the table of `reality = typical` has for other machines.
enum class ValidationNumbers { fitted, nominal, typical };

// scenario.cfg has the options that all rows of measured.csv share; a row's columns are the others,
// and an empty field is no option. Throws std::invalid_argument or std::runtime_error of one line.
ValidationFolder read_validation_folder(const std::string& path,
                                        ValidationNumbers numbers = ValidationNumbers::fitted);

// The last part of a folder's path, as its name.
std::string name_of(const ValidationFolder& folder);

struct ValidationGate {
  std::optional<double> max_error;      // of the worst row of every folder
  std::optional<double> max_median;     // of every folder, and of all rows
  std::optional<double> min_tau;        // of every folder
  std::vector<ValidationRow> baseline;  // empty: none
  double worse_by = 0.01;               // an error larger by up to this counts as no worse
};

// The rows with role `report` of an earlier `validate --json`, with folders' names without the
// path: an error e is 1 measured and 1 + e simulated. Throws std::runtime_error, one line, if the
// file is not such a document.
std::vector<ValidationRow> read_baseline(const std::string& path);

// Throws one line, before anything is simulated.
ValidationGate validation_gate(const CommandLine& line);

std::vector<Verdict> judge(const std::vector<ValidationFolder>& folders,
                           const ValidationGate& gate);

}  // namespace syncline

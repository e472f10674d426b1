// The gate of `validate`: limits of errors, and a baseline whose errors no row, no folder's median
// and no median of all rows may exceed.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/commands/validation_folder.h"
#include "sim/options/user_input.h"
#include "sim/study/verdict.h"

namespace syncline {

// The rows of an earlier `validate --json`.
struct ValidationBaseline {
  struct Row {
    std::string folder;  // its name without the path
    std::string label;
    double error = 0;
  };
  std::vector<Row> rows;  // with role `report`, in the order of their files
};

struct ValidationGate {
  std::optional<double> max_error;   // of the worst row of every folder
  std::optional<double> max_median;  // of every folder, and of all rows
  std::optional<double> min_tau;     // of every folder
  std::optional<ValidationBaseline> baseline;
  double worse_by = 0.01;  // an error larger by up to this counts as no worse
};

// Throws std::runtime_error, one line, if the file is not such a document.
ValidationBaseline read_baseline(const std::string& path);

// Throws one line, before anything is simulated.
ValidationGate validation_gate(const CommandLine& line);

// The last part of a folder's path, as its name.
std::string name_of(const ValidationFolder& folder);

std::vector<Verdict> judge(const std::vector<ValidationFolder>& folders,
                           const ValidationGate& gate);

}  // namespace syncline

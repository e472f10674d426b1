// The gate of `validate`: bounds of errors, and a baseline that no row, no folder and no median may
// be further off than.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/commands/validation_folder.h"
#include "sim/options/user_input.h"
#include "sim/study/verdict.h"

namespace syncline {

// What `validate --json` has said before.
struct ValidationBaseline {
  struct Row {
    std::string folder;  // its name, without where it is
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
  double worse_by = 0.01;  // so much further off is as before
};

// Throws std::runtime_error, one line, where the file is none.
ValidationBaseline read_baseline(const std::string& path);

// Throws one line, before anything is simulated.
ValidationGate validation_gate(const CommandLine& line);

// A name that tells a folder from others: of its path the last part.
std::string name_of(const ValidationFolder& folder);

std::vector<Verdict> judge(const std::vector<ValidationFolder>& folders,
                           const ValidationGate& gate);

}  // namespace syncline

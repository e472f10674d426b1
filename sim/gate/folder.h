// A folder of scenarios for `syncline check`.
#pragma once

#include <string>
#include <vector>

#include "sim/gate/expectation.h"
#include "sim/options/user_input.h"
#include "sim/sweep/sweep.h"

namespace syncline {

struct CheckedCell {
  std::string name;  // "ring" for ring.cfg, "ring/workers-8" if it is a sweep
  SweepCell cell;
  Result result;
  Notes notes;
  InputPaths paths;   // of the files that it reads, including its .cfg
  std::string error;  // why there is no result
};

struct CheckFolder {
  std::string path;
  std::string text;  // of expected.csv, as it was read; empty: there is no such file
  ExpectedFile expected;
  std::vector<CheckedCell> cells;        // in the order of the files' names
  std::vector<std::string> without_row;  // files with no cell that a row names

  std::string csv() const { return path + "/expected.csv"; }
};

// With `all`, every file is simulated and expected.csv need not exist. Throws an error of one line.
CheckFolder read_check_folder(const std::string& path, bool all);

// Simulates the folder's cells, with the processes and limits of the command line.
void simulate(CheckFolder& folder, const CommandLine& line);

// Judges the folder's cells by `expected`.
std::vector<Verdict> judge(const CheckFolder& folder, const ExpectedFile& expected);

}  // namespace syncline

// A validation folder: scenarios, each with what was measured.
#pragma once

#include <string>
#include <vector>

#include "sim/study/validation.h"
#include "sim/sweep/sweep.h"

namespace syncline {

struct ValidationFolder {
  std::string path;
  std::vector<ValidationRow> rows;
  std::vector<SweepCell> cells;  // one per row

  std::string csv() const { return path + "/measured.csv"; }
};

// scenario.cfg has the options that all rows of measured.csv share; a row's columns are the others,
// and an empty field is no option. Throws std::invalid_argument or std::runtime_error of one line.
ValidationFolder read_validation_folder(const std::string& path);

}  // namespace syncline

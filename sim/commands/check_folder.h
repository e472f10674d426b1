// A folder of scenarios for `syncline check`.
#pragma once

#include <string>
#include <vector>

#include "sim/commands/expected_csv.h"
#include "sim/study/expectation.h"
#include "sim/sweep/sweep.h"

namespace syncline {

struct CheckedCell {
  std::string name;  // "ring" for ring.cfg, "ring/workers-8" where it is a sweep
  SweepCell cell;
  Result result;
  Notes notes;
  std::string error;  // why there is no result
};

struct CheckFolder {
  std::string path;
  ExpectedFile expected;
  std::vector<CheckedCell> cells;        // in the order of the files' names
  std::vector<std::string> not_checked;  // files of which no row names a cell

  // The notes that expected.csv has of a cell.
  Notes notes_before(const std::string& name) const;
};

// With `all` every file is simulated and expected.csv need not be there. Throws one line.
CheckFolder read_check_folder(const std::string& path, bool all);

std::vector<Verdict> judge(const CheckFolder& folder);

// The result is what expected.csv should say now. A row that is not met gets its figure and the
// reason, a cell without a row throughput and notes; bounds stay as they are.
ExpectedFile blessed(const CheckFolder& folder, const std::string& because);

}  // namespace syncline

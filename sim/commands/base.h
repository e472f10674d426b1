// What `check --against REF|FOLDER` compares with: the expected.csv of a commit or of a folder, or
// the results that `run --out` has left in one.
#pragma once

#include <string>

#include "sim/commands/check_folder.h"
#include "sim/study/against.h"

namespace syncline {

struct CheckBase {
  std::string title;
  ExpectedFile expected;
  bool is_of_results = false;  // and has notes of nothing but them
  std::string note;
};

// A folder if there is one of this name, or else a commit. Throws one line, before anything is
// simulated.
CheckBase read_base(const std::string& given, const CheckFolder& folder);

BaseComparison compared(const CheckBase& base, const CheckFolder& folder);

}  // namespace syncline

// What `check --against REF|FOLDER` compares with: the expected.csv of a commit or of a folder, or
// the results that `run --out` has written into a folder.
#pragma once

#include <string>

#include "sim/commands/check_folder.h"
#include "sim/study/against.h"

namespace syncline {

struct CheckBase {
  std::string title;
  ExpectedFile expected;
  bool is_of_results = false;  // then only the results' own notes are known
  std::string note;
};

// A folder if there is one of this name, else a commit. Throws an error of one line, before
// anything is simulated.
CheckBase read_base(const std::string& given, const CheckFolder& folder);

BaseComparison compared(const CheckBase& base, const CheckFolder& folder);

}  // namespace syncline

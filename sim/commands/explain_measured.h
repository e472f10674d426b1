// What somebody measured, beside a scenario.
#pragma once

#include "sim/options/user_input.h"

namespace syncline {

// `explain --measured X`: prints what would explain the difference between what was measured, a
// rate or a log of nccl-tests, and the scenario, which must be one cell. Returns the exit code.
// Throws std::invalid_argument or std::runtime_error, one line.
int explain_measured(const CommandLine& line);

}  // namespace syncline

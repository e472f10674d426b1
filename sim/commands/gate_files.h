// Commands that judge have these files in common: --junit and --md.
#pragma once

#include <string>
#include <vector>

#include "sim/options/user_input.h"
#include "sim/study/verdict.h"

namespace syncline {

// Throws at once if a file of --junit or --md could not be written.
void check_gate_files(const CommandLine& line);

// Writes them.
void write_gate_files(const CommandLine& line, const std::string& title,
                      const std::vector<Verdict>& verdicts);

}  // namespace syncline

// The files of a report: --html, --svg and --md.
#pragma once

#include <string>
#include <vector>

#include "sim/options/user_input.h"
#include "sim/page/page.h"

namespace syncline {

struct ReportFiles {
  std::string html, svg, md;  // paths; empty: not asked for
};

// Reads these flags of a command. Throws, before anything is simulated, where a file could not
// be written, or is there and was not written by a report.
ReportFiles report_files(const CommandLine& line);

// Writes them. Returns lines that say where they are.
std::string write_report(const ReportFiles& files, const Findings& findings);

}  // namespace syncline

// The files of a report (--html, --svg and --md).
#pragma once

#include <string>
#include <vector>

#include "sim/options/user_input.h"
#include "sim/page/page.h"
#include "sim/sweep/output_paths.h"

namespace syncline {

struct ReportFiles {
  std::string html, svg, md;  // paths; empty: not asked for
  std::string command;        // the command that makes them again
  OutputPaths places =
      {};  // all places of the command but those of `svg`, whose names are known later
};

// Reads these flags of a command. Throws, before anything is simulated, if a file cannot be
// written.
ReportFiles report_files(const CommandLine& line, OutputPaths& places);

// Writes figures into a folder, which is made if need be. Replaces no file that Syncline did not
// write, and none that is reserved. Returns a line that says where they are.
std::string write_figures(const std::string& folder, const std::vector<Drawing>& figures,
                          const OutputPaths& places);

// Writes the files. Returns lines that say where they are.
std::string write_report(const ReportFiles& files, const PageContent& content);

}  // namespace syncline

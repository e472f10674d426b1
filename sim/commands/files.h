// Folders and files that a user names: those that a command reads, the files of a report (--html,
// --svg and --md), and those of a gate (--junit and --md).
#pragma once

#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/options/user_input.h"
#include "sim/page/page.h"
#include "sim/study/verdict.h"
#include "sim/sweep/places.h"

namespace syncline {

// The entries of a folder. Throws std::invalid_argument, one line, if it is not a folder or cannot
// be read.
std::vector<std::filesystem::path> entries_of(const std::string& folder);

// A folder's path as a title, without control characters; the folder's own name for "." and "..".
std::string title_of_folder(const std::string& path);

struct ReportFiles {
  std::string html, svg, md;  // paths; empty: not asked for
  std::string command;        // the command that makes them again
  Places places = {};  // all places of the command but those of `svg`, whose names are known later
};

// The path of a flag's file, whose text begins with `begin`; empty: the flag is not given. Throws
// if the file cannot be written there.
std::string place_of(const CommandLine& line, const std::string& flag, const std::string& begin,
                     Places& places);

// Reads these flags of a command. Throws, before anything is simulated, if a file cannot be
// written.
ReportFiles report_files(const CommandLine& line, Places& places);

// Writes figures into a folder, which is made if need be. Replaces no file that Syncline did not
// write, and none that is reserved. Returns a line that says where they are.
std::string write_figures(const std::string& folder, const std::vector<Drawing>& figures,
                          const Places& places);

// Writes the files. Returns lines that say where they are.
std::string write_report(const ReportFiles& files, const Findings& findings);

// Writes the files of a gate that could not judge.
void write_gate_error(const CommandLine& line, const std::string& title, const std::string& error);

// Throws at once if a file of a gate cannot be written.
void check_gate_files(const CommandLine& line, Places& places);

// Writes the gate's files, and with --github prints annotations to stderr. `more` is Markdown to
// append to the verdicts.
void write_gate_files(const CommandLine& line, const std::string& title,
                      const std::vector<Verdict>& verdicts, const std::string& more = "");

// Returns what `judge` returns. If it throws, writes the error into the gate's files before the
// error goes on: their readers have to see that nothing was judged.
template <class Judge>
auto gated(const CommandLine& line, const std::string& title, Judge judge) {
  try {
    return judge();
  } catch (const std::exception& error) {
    write_gate_error(line, title, error.what());
    throw;
  }
}

}  // namespace syncline

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include "kernels/text.h"
#include "sim/commands/commands.h"
#include "sim/commands/report_files.h"
#include "sim/commands/validation_folder.h"
#include "sim/options/given.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

// A validation folder itself, or every one directly below.
std::vector<std::string> folders_in(const std::string& given) {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument(brief_path(given) + ": " + why);
  };
  const std::string path = given.substr(0, given.find_last_not_of('/') + 1) +
                           (given.find_first_not_of('/') == std::string::npos ? given : "");
  std::error_code error;
  if (given.empty())
    throw std::invalid_argument("an empty name: allowed are folders");
  if (!fs::is_directory(path, error))
    refuse("no such folder");
  if (fs::exists(path + "/measured.csv", error))
    return {path};
  std::vector<std::string> folders;
  fs::directory_iterator entries(path, error);
  if (error)
    refuse("cannot be read: " + error.message());
  for (const fs::directory_entry& entry : entries)
    if (fs::exists(entry.path() / "measured.csv", error))
      folders.push_back(entry.path().string());
  if (folders.empty())
    refuse("no measured.csv here or one folder below");
  std::ranges::sort(folders);
  return folders;
}

void print_summary(const std::string& name, const std::vector<ValidationRow>& rows) {
  const Agreement figures = agreement(rows);
  std::printf("%srows %d median %.1f%% worst %.1f%% tau %.3f\n", name.c_str(), figures.rows,
              100 * figures.median_error, 100 * figures.worst_error, figures.tau);
}

void print_rows(const std::vector<ValidationRow>& rows) {
  std::size_t width = 0;
  for (const ValidationRow& row : rows)
    width = std::max(width, row.label.size());
  const auto worst = std::ranges::max_element(
      rows, {}, [](const ValidationRow& row) { return row.fit ? -1 : std::abs(row.error()); });
  std::printf("%-*s  role    measured    simulated   error\n", static_cast<int>(width), "row");
  for (const ValidationRow& row : rows)
    std::printf("%-*s  %-6s %9.1f    %9.1f  %+6.1f%%%s\n", static_cast<int>(width),
                row.label.c_str(), row.fit ? "fit" : "report", row.measured, row.simulated,
                100 * row.error(), &row == &*worst ? "  worst" : "");
}

}  // namespace

int validate_command(const std::vector<std::string>& arguments) {
  std::vector<Flag> flags = limit_flags();
  flags.insert(flags.end(), {{"jobs", true}, {"html", true}});
  const CommandLine line = parse_command_line(arguments, flags);
  if (line.arguments.empty() || !line.options.empty())
    throw std::invalid_argument("validate takes folders with platform.xml, scenario.cfg and " +
                                std::string("measured.csv, --jobs N and --html FILE"));
  const ReportFiles files = report_files(line);
  std::vector<ValidationFolder> folders;
  std::vector<SweepCell> cells;
  for (const std::string& argument : line.arguments)
    for (const std::string& path : folders_in(argument)) {
      folders.push_back(read_validation_folder(path));
      cells.insert(cells.end(), folders.back().cells.begin(), folders.back().cells.end());
    }

  std::vector<CellResult> results(cells.size());
  simulate_all(cells, jobs_of(line), limits_of(line),
               [&](std::size_t i, CellResult cell) { results[i] = std::move(cell); });
  std::vector<ValidationRow> all;
  Findings findings;
  std::size_t next = 0;
  for (ValidationFolder& folder : folders) {
    for (ValidationRow& row : folder.rows) {
      const CellResult& cell = results[next++];
      if (!cell.error.empty())
        throw std::runtime_error(folder.path + ", row " + row.label + ": " + cell.error);
      row.simulated = cell.result["figures"]["throughput_samples_per_s"];
      row.folder = printable(fs::path(folder.path).filename().string());
      findings.results.push_back(cell.result);
    }
    all.insert(all.end(), folder.rows.begin(), folder.rows.end());
    std::printf("%s\n", printable(folder.path).c_str());
    print_rows(folder.rows);
    if (folders.size() == 1)
      print_summary("", folder.rows);
    else
      std::puts("");
  }
  if (folders.size() > 1) {
    for (const ValidationFolder& folder : folders)
      print_summary(printable(fs::path(folder.path).filename().string()) + ": ", folder.rows);
    print_summary("", all);
  }
  findings.rows = std::move(all);
  std::fputs(write_report(files, findings).c_str(), stdout);
  return 0;
}

}  // namespace syncline

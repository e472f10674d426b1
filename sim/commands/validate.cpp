#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include "sim/commands/commands.h"
#include "sim/commands/sweep.h"
#include "sim/options/given.h"
#include "sim/options/resolve.h"
#include "sim/report/validation.h"
#include "sim/setup/csv.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

struct Folder {
  std::string path;
  std::vector<ValidationRow> rows;
  std::vector<SweepCell> cells;  // one per row
};

// All columns of measured.csv are options, except these.
bool is_option(const std::string& column) {
  return column != "measured" && column != "role" && column != "source" && column != "case";
}

// scenario.cfg has the options that all rows share, a row's columns the others; an empty field is
// no option.
Folder read_folder(const std::string& path) {
  Folder folder{.path = path, .rows = {}, .cells = {}};
  const Csv csv = read_csv(path + "/measured.csv");
  const std::size_t measured = csv.column("measured");
  const std::size_t role = csv.column("role");
  csv.column("source");
  GivenOptions shared = parse_config_file(path + "/scenario.cfg");
  if (fs::exists(path + "/platform.xml"))
    shared.emplace("platform", Given{"platform.xml", path + "/scenario.cfg:1"});
  for (const Csv::Row& row : csv.rows) {
    GivenOptions given = shared;
    ValidationRow result{.folder = path};
    for (std::size_t i = 0; i < csv.columns.size(); ++i) {
      const std::string& column = csv.columns[i];
      if (is_option(column) && !row.fields[i].empty())
        given[column] = {row.fields[i], csv.where(row)};
      if ((is_option(column) && !row.fields[i].empty()) || column == "case")
        result.label += (result.label.empty() ? "" : " ") + row.fields[i];
    }
    try {
      result.measured = checked_number({.name = "measured",
                                        .sentence = "",
                                        .fallback = "",
                                        .minimum = 1e-9,
                                        .maximum = 1e15,
                                        .whole = false,
                                        .choices = {}},
                                       row.fields[measured]);
      result.fit =
          checked_word(
              {.name = "role", .sentence = "", .fallback = "", .choices = {"fit", "report"}},
              row.fields[role]) == "fit";
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(csv.where(row) + ": " + error.what());
    }
    folder.cells.push_back({resolve(given), ""});
    folder.rows.push_back(std::move(result));
  }
  if (std::ranges::none_of(folder.rows, [](const ValidationRow& row) { return !row.fit; }))
    throw std::invalid_argument(path + "/measured.csv: no row has role = report");
  return folder;
}

// A validation folder itself, or every one directly below.
std::vector<std::string> folders_in(const std::string& path) {
  if (!fs::is_directory(path))
    throw std::invalid_argument(path + ": no such folder");
  if (fs::exists(path + "/measured.csv"))
    return {path};
  std::vector<std::string> folders;
  for (const fs::directory_entry& entry : fs::directory_iterator(path))
    if (fs::exists(entry.path() / "measured.csv"))
      folders.push_back(entry.path().string());
  if (folders.empty())
    throw std::invalid_argument(path + ": no measured.csv here or one folder below");
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
  const CommandLine line = parse_command_line(arguments, {{"jobs", true}});
  if (line.arguments.empty() || !line.options.empty())
    throw std::invalid_argument("validate takes folders with platform.xml, scenario.cfg and " +
                                std::string("measured.csv, and --jobs N"));
  std::vector<Folder> folders;
  std::vector<SweepCell> cells;
  for (const std::string& argument : line.arguments)
    for (const std::string& path : folders_in(argument)) {
      folders.push_back(read_folder(path));
      cells.insert(cells.end(), folders.back().cells.begin(), folders.back().cells.end());
    }

  const auto results = simulate_all(cells, jobs_of(line), [](std::size_t, const auto&) {});
  std::vector<ValidationRow> all;
  std::size_t next = 0;
  for (Folder& folder : folders) {
    for (ValidationRow& row : folder.rows) {
      const CellResult& cell = results[next++];
      if (!cell.error.empty())
        throw std::runtime_error(folder.path + ", row " + row.label + ": " + cell.error);
      row.simulated = cell.result["figures"]["throughput_samples_per_s"];
    }
    all.insert(all.end(), folder.rows.begin(), folder.rows.end());
    std::printf("%s\n", folder.path.c_str());
    print_rows(folder.rows);
    if (folders.size() == 1)
      print_summary("", folder.rows);
    else
      std::puts("");
  }
  if (folders.size() > 1) {
    for (const Folder& folder : folders)
      print_summary(fs::path(folder.path).filename().string() + ": ", folder.rows);
    print_summary("", all);
  }
  return 0;
}

}  // namespace syncline

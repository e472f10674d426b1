#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "kernels/io/text.h"
#include "sim/catalogue/files.h"
#include "sim/commands/commands.h"
#include "sim/commands/files.h"
#include "sim/commands/results_json.h"
#include "sim/gate/answer.h"
#include "sim/gate/validation_gate.h"
#include "sim/report/prediction.h"
#include "sim/sweep/process.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

// The folder itself, if it is a validation folder, else all validation folders directly below it;
// of these, unless with fitted numbers, those that can be simulated without.
std::vector<std::string> folders_in(const std::string& written, ValidationNumbers numbers) {
  if (written.empty())
    throw std::invalid_argument("an empty name: allowed are folders");
  const std::string given = with_shipped(written);
  const std::string path = given.substr(0, given.find_last_not_of('/') + 1) +
                           (given.find_first_not_of('/') == std::string::npos ? given : "");
  std::error_code error;
  if (fs::exists(path + "/measured.csv", error))
    return {path};
  std::vector<std::string> folders;
  for (const fs::path& entry : entries_of(given))
    if (fs::exists(entry / "measured.csv", error)) {
      const std::string folder = (fs::path(path) / entry.filename()).string();
      if (numbers != ValidationNumbers::fitted && !fs::exists(folder + "/nominal.cfg", error))
        std::fprintf(stderr, "left out: %s has no nominal.cfg\n", printable(folder).c_str());
      else
        folders.push_back(folder);
    }
  if (folders.empty())
    throw std::invalid_argument(brief_path(given) + ": no measured.csv here or one folder below");
  return folders;
}

void print_summary(const std::string& name, const std::vector<ValidationRow>& rows) {
  const Agreement figures = agreement(rows);
  std::printf("%srows %d median %.1f%% worst %.1f%% tau %.3f\n", name.c_str(), figures.rows,
              100 * figures.median_error, 100 * figures.worst_error, figures.tau);
}

// Prints the error of those who assume perfect scaling and simulate nothing.
void print_perfect(const std::string& of, const std::vector<ValidationRow>& rows) {
  const double error = agreement(rows).perfect_median_error;
  const std::string shown = error > 100 ? "more than 10000%, where hardly anything computes"
                                        : fmt::format("{:.1f}%", 100 * error);
  std::printf("perfect scaling alone%s: median %s\n", of.c_str(), shown.c_str());
}

void print_rows(const std::vector<ValidationRow>& rows) {
  const ValidationRow* worst = worst_of(rows);
  std::size_t width = 0;
  for (const ValidationRow& row : rows)
    width = std::max(width, row.label.size());
  std::printf("%-*s  role    measured    simulated   error\n", static_cast<int>(width), "row");
  for (const ValidationRow& row : rows)
    std::printf("%-*s  %-6s %9.1f    %9.1f  %+6.1f%%%s\n", static_cast<int>(width),
                row.label.c_str(), row.fit ? "fit" : "report", row.measured, row.simulated,
                100 * row.error(), &row == worst ? "  worst" : "");
}

nlohmann::ordered_json summary_json(const std::vector<ValidationRow>& rows) {
  const Agreement figures = agreement(rows);
  return {{"rows", figures.rows},
          {"median_error", figures.median_error},
          {"worst_error", figures.worst_error},
          {"perfect_median_error", figures.perfect_median_error},
          {"tau", figures.tau}};
}

nlohmann::ordered_json folder_json(const ValidationFolder& folder, bool is_whole) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const ValidationRow& row : folder.rows)
    rows.push_back({{"row", row.label},
                    {"role", row.fit ? "fit" : "report"},
                    {"measured", row.measured},
                    {"simulated", row.simulated},
                    {"perfect", row.perfect},
                    {"error", row.error()}});
  return {{"folder", printable(folder.path)},
          {"summary", is_whole ? summary_json(folder.rows) : nullptr},
          {"rows", rows}};
}

std::vector<ValidationFolder> folders_of(const CommandLine& line) {
  using enum ValidationNumbers;
  if (line.has("nominal") && line.has("typical"))
    throw std::invalid_argument("validate --nominal --typical: allowed is one of both");
  const ValidationNumbers numbers = line.has("nominal")   ? nominal
                                    : line.has("typical") ? typical
                                                          : fitted;
  std::vector<ValidationFolder> folders;
  for (const std::string& argument : line.arguments)
    for (const std::string& path : folders_in(argument, numbers))
      folders.push_back(read_validation_folder(path, numbers));
  return folders;
}

// Simulates the rows of all folders and stores the figures in the rows. Returns the results in the
// order of the rows. If it is interrupted, removes the missing rows and sets `interrupted` to a
// sentence about them.
std::vector<Result> simulate_cells(std::vector<ValidationFolder>& folders, const CommandLine& line,
                                   std::string& interrupted) {
  std::vector<SweepCell> cells;
  for (const ValidationFolder& folder : folders)
    cells.insert(cells.end(), folder.cells.begin(), folder.cells.end());
  std::vector<CellResult> simulated(cells.size());
  bool ended = true;
  try {
    simulate_all(cells, jobs_of(line), limits_of(line),
                 [&](std::size_t i, CellResult cell) { simulated[i] = std::move(cell); });
  } catch (const Interrupted&) {
    ended = false;
  }
  std::vector<Result> results;
  std::size_t next = 0;
  for (ValidationFolder& folder : folders) {
    std::vector<ValidationRow> rows;
    for (ValidationRow& row : folder.rows) {
      const Scenario& scenario = cells[next].scenario;
      CellResult& cell = simulated[next++];
      if (!cell.error.empty())
        throw std::runtime_error(folder.path + ", row " + row.label + ": " + cell.error);
      if (!cell.result)
        continue;
      const Figures& figures = cell.result->figures;
      row.simulated = figures.throughput_samples_per_s;
      row.perfect = row.simulated / share_of_perfect_scaling(scenario, figures);
      row.folder = name_of(folder);
      rows.push_back(std::move(row));
      results.push_back(std::move(*cell.result));
    }
    folder.rows = std::move(rows);
  }
  if (!ended && results.empty())
    throw Interrupted();
  if (!ended)
    interrupted = fmt::format("interrupted: {} of {} rows are missing",
                              cells.size() - results.size(), cells.size());
  std::erase_if(folders, [](const ValidationFolder& folder) { return folder.rows.empty(); });
  return results;
}

void print_text(const std::vector<ValidationFolder>& folders,
                const std::vector<ValidationRow>& all) {
  for (const ValidationFolder& folder : folders) {
    std::printf("%s\n", printable(folder.path).c_str());
    print_rows(folder.rows);
    print_perfect("", folder.rows);
    if (folders.size() > 1)
      std::puts("");
  }
  if (folders.size() > 1) {
    print_perfect(", all folders", all);
    for (const ValidationFolder& folder : folders)
      print_summary(name_of(folder) + ": ", folder.rows);
  }
  print_summary("", all);
}

struct Validated {
  std::vector<ValidationFolder> folders;
  PageContent content;
  std::vector<Verdict> verdicts;  // none if it was interrupted
  std::string interrupted;        // says how many rows are missing; empty: not interrupted
};

void print_document(const Validated& all) {
  const bool is_whole = all.interrupted.empty();
  nlohmann::ordered_json documents = nlohmann::ordered_json::array();
  nlohmann::ordered_json missing = nlohmann::ordered_json::array();
  for (const ValidationFolder& folder : all.folders)
    documents.push_back(folder_json(folder, is_whole));
  if (!is_whole)
    missing.push_back(all.interrupted);
  print_json({{"folders", documents},
              {"summary", is_whole ? summary_json(all.content.rows) : nullptr},
              {"verdicts", verdicts_json(all.verdicts)},
              {"missing", missing}});
}

// Prints the finished rows and judges none. Returns the exit code.
int print_unfinished(const CommandLine& line, const std::string& title, const Validated& all) {
  write_gate_error(line, title, all.interrupted);
  if (line.has("json"))
    print_document(all);
  else
    for (const ValidationFolder& folder : all.folders) {
      std::printf("%s\n", printable(folder.path).c_str());
      print_rows(folder.rows);
    }
  std::fprintf(stderr, "syncline: %s\n", all.interrupted.c_str());
  return interrupted_exit_code;
}

Validated validated(const CommandLine& line) {
  const ValidationGate gate = validation_gate(line);
  Validated all{.folders = folders_of(line), .content = {}, .verdicts = {}, .interrupted = {}};
  all.content.results = simulate_cells(all.folders, line, all.interrupted);
  for (const ValidationFolder& folder : all.folders)
    all.content.rows.insert(all.content.rows.end(), folder.rows.begin(), folder.rows.end());
  if (all.interrupted.empty())
    all.verdicts = judge(all.folders, gate);
  return all;
}

}  // namespace

int validate_command(const std::vector<std::string>& arguments) {
  const CommandLine line = command_line("validate", arguments);
  if (line.arguments.empty() || !line.options.empty())
    throw std::invalid_argument(
        "validate takes folders with platform.xml, scenario.cfg and measured.csv, --max-error, "
        "--max-median, --min-tau, --baseline FILE, --worse-by, --nominal, --typical, --junit FILE, "
        "--md FILE, --github, --json, --jobs N and --html FILE");
  OutputPaths places;
  places.reserve(line.flag("baseline").value_or(""), "what this command reads");
  check_gate_files(line, places);
  CommandLine page = line;
  page.flags.erase("md");  // --md is a file of the gate here
  const ReportFiles files = report_files(page, places);
  const std::string title = "syncline validate";
  Validated all = gated(line, title, [&] { return validated(line); });
  if (!all.interrupted.empty())
    return print_unfinished(line, title, all);
  write_answer(line, {.title = title, .verdicts = all.verdicts});
  all.content.command = files.command;
  const std::string written = write_report(files, all.content);
  if (line.has("json")) {
    print_document(all);
    return exit_code_of(all.verdicts);
  }
  print_text(all.folders, all.content.rows);
  std::fputs(written.c_str(), stdout);
  for (const Verdict& verdict : all.verdicts)
    if (verdict.kind == Verdict::Kind::moved)
      std::printf("too far: %s: %s is %s; allowed is %s\n", verdict.cell.c_str(),
                  verdict.figure.c_str(), verdict.now.c_str(), verdict.expected.c_str());
  return exit_code_of(all.verdicts);
}

}  // namespace syncline

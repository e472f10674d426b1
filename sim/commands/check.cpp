#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "kernels/io/text.h"
#include "kernels/io/whole_file.h"
#include "sim/catalogue/fingerprint.h"
#include "sim/commands/base.h"
#include "sim/commands/bless.h"
#include "sim/commands/check_folder.h"
#include "sim/commands/commands.h"
#include "sim/commands/files.h"
#include "sim/commands/history_csv.h"
#include "sim/commands/results_json.h"
#include "sim/options/user_input.h"
#include "sim/sweep/git.h"
#include "sim/sweep/inputs.h"

namespace syncline {
namespace {

// Fingerprints by kind of file, of the kinds that are read; `none` if no cost table is.
Notes inputs_noted(const Scenario& scenario) {
  Notes notes;
  for (const auto& [kind, files] : input_files(scenario, read_platform(scenario)))
    if (!files.empty() || kind == "cost_table_file")
      notes[kind] = files.empty() ? "none" : fingerprint_of_files(files);
  return notes;
}

// Where a reader of a pull request finds the cell's input: kinds with a single file, and the
// platform's own file, below the working directory.
void add_paths(CheckedCell& cell) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path here = fs::current_path(error);
  const Scenario& scenario = cell.cell.scenario;
  for (const auto& [kind, files] : input_files(scenario, read_platform(scenario)))
    if (files.size() == 1 || (kind == "platform_file" && !files.empty()))
      cell.paths[kind] = files.front();
  for (auto path = cell.paths.begin(); path != cell.paths.end();) {
    const std::string below = fs::proximate(path->second, here, error).string();
    path->second = printable(below);
    path = error || below.starts_with("..") ? cell.paths.erase(path) : std::next(path);
  }
}

void simulate(CheckFolder& folder, const CommandLine& line) {
  std::vector<SweepCell> cells;
  for (CheckedCell& cell : folder.cells) {
    cells.push_back(cell.cell);
    cell.notes = inputs_noted(cell.cell.scenario);  // before the simulation reads them
    add_paths(cell);
  }
  simulate_all(cells, jobs_of(line), limits_of(line), [&](std::size_t i, CellResult simulated) {
    CheckedCell& cell = folder.cells[i];
    cell.error = std::move(simulated.error);
    if (simulated.result) {
      cell.result = std::move(*simulated.result);
      cell.notes = notes_of(cell.result, cell.notes);
    }
  });
}

struct Checked {
  std::vector<Verdict> verdicts;
  std::optional<BaseComparison> against;
  std::vector<std::string> said;  // sentences of blessing
  std::string written;            // says what blessing has written
};

// "wrote c/expected.csv: 1 cell, 1 figure expected, 18 notes".
std::string written_shown(const CheckFolder& folder, bool has_changed) {
  std::set<std::string> cells;
  for (const Expectation& row : folder.expected.rows)
    cells.insert(row.cell);
  const auto figures = std::ranges::count_if(folder.expected.rows, &Expectation::is_judged);
  const auto notes = std::ssize(folder.expected.rows) - figures;
  const auto counted = [](auto count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
  };
  const std::string path = brief_path(folder.csv());
  return (has_changed ? "wrote " + path : path + " has not changed") + ": " +
         counted(cells.size(), "cell") + ", " + counted(figures, "figure") + " expected, " +
         counted(notes, "note");
}

// Rewrites expected.csv; throws, and leaves it, if a cell could not be simulated. Adds what there
// is to print.
void bless(CheckFolder& folder, const std::string& because, Checked& all) {
  for (const CheckedCell& cell : folder.cells)
    if (!cell.error.empty())
      throw std::runtime_error(cell.name + ": " + cell.error);
  const std::string path = folder.csv();
  Blessed now = blessed(folder, because);
  const std::string text = readable_text(now.file, path);
  folder.expected = expected_in(text, path);  // now with line numbers
  const FileLock lock(path);
  const std::string there = text_of_expected(path);
  if (there != text && there != folder.text)
    throw std::runtime_error(brief_path(path) +
                             ": has changed while cells were simulated: allowed is --bless again");
  if (there != text)
    write_atomically(path, text);
  all.said = std::move(now.said);
  all.written = written_shown(folder, there != text);
}

Checked checked(const CommandLine& line, const std::string& because) {
  const bool blesses = line.has("bless");
  CheckFolder folder = read_check_folder(line.arguments.front(), blesses);
  std::optional<CheckBase> base;
  if (const auto against = line.flag("against"))
    base = read_base(*against, folder);
  if (blesses)
    check_place(folder.csv());
  simulate(folder, line);
  Checked all;
  if (blesses)
    bless(folder, because, all);
  all.verdicts = judge(folder, folder.expected);
  if (base)
    all.against = compared(*base, folder);
  return all;
}

// The content of a file of --history.
History history_in(const std::string& path) {
  std::error_code error;
  const bool has_any =
      std::filesystem::is_regular_file(path, error) && std::filesystem::file_size(path, error) > 0;
  return has_any ? read_history(path) : History();
}

// Reads the file again: another check may have added to it since this one began.
void add_to_history(const std::string& path, const std::string& commit,
                    const std::vector<Verdict>& verdicts) {
  const FileLock lock(path);
  write_atomically(path, history_text(with_commit(history_in(path), commit, verdicts)));
}

void print_checked(const Checked& all) {
  std::fputs(verdicts_table(all.verdicts).c_str(), stdout);
  for (const std::string& sentence : all.said)
    std::printf("blessed: %s\n", sentence.c_str());
  if (!all.written.empty())
    std::printf("%s\n", all.written.c_str());
  if (all.against)
    std::fputs(against_text(*all.against).c_str(), stdout);
  std::printf("%s\n", summary_of(all.verdicts).c_str());
}

nlohmann::ordered_json checked_json(const std::string& folder, const Checked& all) {
  nlohmann::ordered_json document{{"folder", printable(folder)},
                                  {"summary", summary_of(all.verdicts)},
                                  {"verdicts", verdicts_json(all.verdicts)}};
  if (!all.said.empty())
    document["blessed"] = all.said;
  if (all.against)
    document["against"] = against_json(*all.against);
  return document;
}

}  // namespace

int check_command(const std::vector<std::string>& arguments) {
  const CommandLine line = command_line("check", arguments);
  if (line.arguments.size() != 1 || !line.options.empty())
    throw std::invalid_argument(
        "check takes one folder with .cfg files and expected.csv, --against REF|FOLDER, --junit "
        "FILE, --md FILE, --history FILE, --github, --json, --jobs N, and --bless --because TEXT");
  const bool blesses = line.has("bless");
  const std::string because = reason_of(line.flag("because").value_or(""));
  if (blesses != line.has("because") || (blesses && because.empty()))
    throw std::invalid_argument(
        "--bless and --because TEXT belong together: every expectation has a reason");
  const std::string& folder = line.arguments.front();
  Places places;
  places.reserve(folder + "/expected.csv", "what this command reads");
  check_gate_files(line, places);
  const auto history = line.flag("history");
  std::string commit;
  if (history) {
    places.add("--history", *history, history_begin);
    history_in(*history);  // throws now if it is not a history
    commit = commit_of(folder);
  }
  const std::string title = title_of_folder(folder);
  const Checked all = gated(line, title, [&] { return checked(line, because); });
  if (history)
    add_to_history(*history, commit, all.verdicts);
  std::string more;
  for (const std::string& sentence : all.said)
    more += "\nBlessed: " + in_markdown(sentence) + "\n";
  if (all.against)
    more += against_markdown(*all.against);
  write_gate_files(line, title, all.verdicts, more);
  if (line.has("json"))
    print_json(checked_json(folder, all));
  else
    print_checked(all);
  return exit_code_of(all.verdicts);
}

}  // namespace syncline

#include "sim/gate/folder.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "kernels/io/text.h"
#include "kernels/registry.h"
#include "sim/catalogue/fingerprint.h"
#include "sim/options/expand.h"
#include "sim/study/names.h"
#include "sim/sweep/cell_inputs.h"
#include "sim/sweep/output_paths.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

// The file of a cell: "ring" of "ring/workers-8".
std::string stem_of(const std::string& cell) {
  return cell.substr(0, cell.find('/'));
}

std::vector<std::string> scenarios_in(const std::string& path) {
  std::vector<std::string> stems;
  for (const fs::path& entry : entries_of(path))
    if (entry.extension() == ".cfg") {
      stems.push_back(entry.stem().string());
      if (trimmed(stems.back()) != stems.back() || stems.back().empty())
        throw std::invalid_argument(brief_path(entry.string()) +
                                    ": a name that no row of expected.csv can have: allowed are " +
                                    "names without blanks at their ends");
    }
  std::ranges::sort(stems);
  if (stems.empty())
    throw std::invalid_argument(brief_path(path) + ": no .cfg file here");
  return stems;
}

// Simulates the cell with as many runs, in steps or flows, as it was blessed with, unless its
// options say otherwise. The verdict then does not depend on what `auto` chooses today. Files from
// before these notes had one run, of flows.
void simulate_as_blessed(Scenario& scenario, const Notes& before) {
  if (const auto runs = before.find(noted_runs); !scenario.repeats) {
    scenario.repeats = 1;
    if (runs != before.end())
      scenario.repeats = static_cast<int>(checked_number(
          {.name = noted_runs, .minimum = 1, .maximum = 1000, .whole = true}, runs->second));
  }
  if (scenario.fidelity != Fidelity::automatic)
    return;
  const auto fidelity = before.find("fidelity");
  const bool step = fidelity != before.end() && fidelity->second == "step";
  scenario.fidelity = step ? Fidelity::step : Fidelity::flow;
  if (fidelity != before.end())
    return;
  scenario.written["fidelity"] = "flow";  // as the option was at that time
  scenario.written.erase("repeats");
}

// The notes in expected.csv, by cell.
using NotesByCell = std::map<std::string, Notes>;

NotesByCell notes_by_cell(const ExpectedFile& expected) {
  NotesByCell notes;
  for (const Expectation& row : expected.rows)
    if (!row.is_judged())
      notes[row.cell][row.figure] = row.expected;
  return notes;
}

// Without notes, cells are simulated as their files say.
void add_cells(const std::string& stem, NotesByCell* notes, CheckFolder& folder) {
  const std::string path = folder.path + "/" + stem + ".cfg";
  const Sweep sweep = expand(parse_sections(path));
  print_left_out(sweep, {});
  for (Scenario scenario : sweep.cells) {
    const std::string name =
        printable(stem) +
        (sweep.swept.empty() ? "" : "/" + cell_name(scenario.written, sweep.swept));
    if (notes != nullptr)
      simulate_as_blessed(scenario, (*notes)[name]);
    folder.cells.push_back({.name = name,
                            .cell = {.scenario = scenario},
                            .result = {},
                            .notes = {},
                            .paths = {{"options", path}},
                            .error = {}});
  }
  if (folder.cells.size() > most_cells)
    throw std::invalid_argument(brief_path(folder.path) + ": more than " +
                                std::to_string(most_cells) +
                                " cells: allowed are at most that many");
}

// Sentences about the cells that there are, by file: for rows of cells that there are not.
std::map<std::string, std::string> cells_there(const CheckFolder& folder) {
  std::map<std::string, std::vector<std::string>> names;
  for (const CheckedCell& cell : folder.cells)
    names[stem_of(cell.name)].push_back(cell.name);
  std::map<std::string, std::string> there;
  for (const auto& [stem, of_file] : names)
    there[stem] = "there is no such cell: " + brief(listed(of_file)) +
                  (of_file.size() == 1 ? " is all there is" : " are there");
  return there;
}

// Notes the fingerprints of the cell's input by kind of file, of the kinds that are read, `none` if
// no cost table is; and where a reader of a pull request finds it: kinds with a single file, and
// the platform's own file, below the working directory.
void note_inputs(CheckedCell& cell) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  const Scenario& scenario = cell.cell.scenario;
  for (const auto& [kind, files] : input_files(scenario, read_platform(scenario))) {
    if (!files.empty() || kind == "cost_table_file")
      cell.notes[kind] = files.empty() ? "none" : fingerprint_of_files(files);
    if (files.size() == 1 || (kind == "platform_file" && !files.empty()))
      cell.paths[kind] = files.front();
  }
  for (auto path = cell.paths.begin(); path != cell.paths.end();) {
    const std::string below = fs::proximate(path->second, here, error).string();
    path->second = printable(below);
    path = error || below.starts_with("..") ? cell.paths.erase(path) : std::next(path);
  }
}

}  // namespace

CheckFolder read_check_folder(const std::string& path, bool all) {
  CheckFolder folder{.path = path, .text = {}, .expected = {}, .cells = {}, .without_row = {}};
  const std::vector<std::string> stems = scenarios_in(path);
  const std::string csv = folder.csv();
  std::error_code error;
  if (fs::exists(csv, error)) {
    folder.text = text_of_expected(csv);
    folder.expected = expected_in(folder.text, csv);
  } else if (!all) {
    throw std::invalid_argument(brief_path(csv) +
                                ": no such file: --bless --because TEXT writes it");
  }
  std::set<std::string> named;
  for (const Expectation& row : folder.expected.rows)
    named.insert(stem_of(row.cell));
  NotesByCell notes = notes_by_cell(folder.expected);
  for (const std::string& stem : stems)
    if (all || named.contains(printable(stem)))
      add_cells(stem, all ? nullptr : &notes, folder);
    else
      folder.without_row.push_back(printable(stem) + ".cfg");
  return folder;
}

void simulate(CheckFolder& folder, const CommandLine& line) {
  std::vector<SweepCell> cells;
  for (CheckedCell& cell : folder.cells) {
    cells.push_back(cell.cell);
    note_inputs(cell);  // before the simulation reads them
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

std::vector<Verdict> judge(const CheckFolder& folder, const ExpectedFile& expected) {
  std::vector<Verdict> verdicts;
  const auto add = [&](Verdict verdict, const std::string& cause, const std::string& why) {
    verdict.cause.what = cause;
    verdict.why = {why};
    verdicts.push_back(std::move(verdict));
  };
  using enum Verdict::Kind;
  std::map<std::string, const CheckedCell*> cells;  // by name: expected.csv may have many rows
  for (const CheckedCell& cell : folder.cells)
    cells.emplace(cell.name, &cell);
  std::map<std::string, std::string> there = cells_there(folder);
  NotesByCell notes = notes_by_cell(expected);
  std::set<std::string> seen, judged;  // names of cells
  for (const Expectation& row : expected.rows) {
    const bool first = seen.insert(row.cell).second;
    if (row.is_judged())
      judged.insert(row.cell);
    const auto found = cells.find(row.cell);
    const CheckedCell* cell = found == cells.end() ? nullptr : found->second;
    if (cell != nullptr && cell->error.empty()) {
      if (row.is_judged())
        verdicts.push_back(judge(row, cell->result, {notes[row.cell], cell->notes, cell->paths}));
    } else if (first && cell == nullptr) {
      const std::string stem = stem_of(row.cell);
      add({.kind = moved, .cell = row.cell, .now = "missing", .line = row.line},
          "cells that are gone",
          there.try_emplace(stem, "there is no " + stem + ".cfg with cells").first->second);
    } else if (first) {
      add({.kind = failed, .cell = row.cell, .now = "not simulated", .line = row.line},
          headline_of_error(cell->error), cell->error);
    }
  }
  for (const CheckedCell& cell : folder.cells)
    if (!seen.contains(cell.name))
      add({.kind = moved,
           .cell = cell.name,
           .expected = "no such cell",
           .now = "there",
           .cause = {.kind = Cause::Kind::no_row}},
          "cells without a row", "no row of expected.csv: --bless --because TEXT adds it");
    else if (!judged.contains(cell.name) && cell.error.empty())
      add({.kind = moved,
           .cell = cell.name,
           .expected = "notes only",
           .now = "there",
           .cause = {.kind = Cause::Kind::only_notes}},
          "cells without judged rows", "its notes judge nothing: its rows of figures are gone");
  for (const std::string& file : folder.without_row)
    add({.kind = moved, .cell = file, .expected = "no such file", .now = "there"},
        "files without a row",
        "no row of expected.csv names a cell of it: --bless --because TEXT adds them");
  for (Verdict& verdict : verdicts)
    verdict.file = folder.csv();
  return verdicts;
}

}  // namespace syncline

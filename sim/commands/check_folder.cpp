#include "sim/commands/check_folder.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>

#include "kernels/io/text.h"
#include "kernels/registry.h"
#include "sim/commands/files.h"
#include "sim/options/expand.h"
#include "sim/study/names.h"

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

// The cells of a folder by name, and sentences about them by file. Maps, because expected.csv may
// have many rows.
class CellsByName {
 public:
  explicit CellsByName(const CheckFolder& folder) {
    std::map<std::string, std::vector<std::string>> names;  // by file
    for (const CheckedCell& cell : folder.cells) {
      cells_.emplace(cell.name, &cell);
      names[stem_of(cell.name)].push_back(cell.name);
    }
    for (const auto& [stem, of_file] : names)
      there_[stem] = "there is no such cell: " + brief(listed(of_file)) +
                     (of_file.size() == 1 ? " is all there is" : " are there");
  }

  const CheckedCell* find(const std::string& name) const {
    const auto found = cells_.find(name);
    return found == cells_.end() ? nullptr : found->second;
  }
  // "there is no ring.cfg with cells", or which cells it has.
  std::string why_missing(const std::string& name) const {
    const auto found = there_.find(stem_of(name));
    return found == there_.end() ? "there is no " + stem_of(name) + ".cfg with cells"
                                 : found->second;
  }

 private:
  std::map<std::string, const CheckedCell*> cells_;
  std::map<std::string, std::string> there_;
};

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

std::vector<Verdict> judge(const CheckFolder& folder, const ExpectedFile& expected) {
  std::vector<Verdict> verdicts;
  const auto add = [&](Verdict verdict, const std::string& cause, const std::string& why) {
    verdict.cause.what = cause;
    verdict.why = {why};
    verdicts.push_back(std::move(verdict));
  };
  using enum Verdict::Kind;
  const CellsByName cells(folder);
  NotesByCell notes = notes_by_cell(expected);
  std::set<std::string> seen, judged;  // names of cells
  for (const Expectation& row : expected.rows) {
    const bool first = seen.insert(row.cell).second;
    if (row.is_judged())
      judged.insert(row.cell);
    const CheckedCell* cell = cells.find(row.cell);
    if (cell != nullptr && cell->error.empty()) {
      if (row.is_judged())
        verdicts.push_back(judge(row, cell->result, {notes[row.cell], cell->notes, cell->paths}));
    } else if (first && cell == nullptr) {
      add({.kind = moved, .cell = row.cell, .now = "missing", .line = row.line},
          "cells that are gone", cells.why_missing(row.cell));
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

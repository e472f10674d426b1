#include "sim/commands/check_folder.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "kernels/io/text.h"
#include "kernels/registry.h"
#include "sim/commands/files.h"
#include "sim/options/expand.h"
#include "sim/report/learning.h"
#include "sim/report/result_json.h"
#include "sim/study/study.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

const std::string new_figure = "throughput_samples_per_s";
const std::string runs_note = "runs";  // of which that is the mean; none: one

// The file that a cell is of: "ring" of "ring/workers-8".
std::string stem_of(const std::string& cell) {
  return cell.substr(0, cell.find('/'));
}

std::vector<std::string> scenarios_in(const std::string& path) {
  std::vector<std::string> stems;
  for (const fs::path& entry : entries_of(path))
    if (entry.extension() == ".cfg")
      stems.push_back(entry.stem().string());
  std::ranges::sort(stems);
  if (stems.empty())
    throw std::invalid_argument(brief_path(path) + ": no .cfg file here");
  return stems;
}

// The cell gets as many runs, in steps or flows, as it was blessed with, unless its options say so:
// what is judged then does not depend on what `auto` is today. Files of before had one run, of
// flows.
void simulate_as_blessed(Scenario& scenario, const Notes& before) {
  if (const auto runs = before.find(runs_note); !scenario.repeats) {
    scenario.repeats = 1;
    if (runs != before.end())
      scenario.repeats = static_cast<int>(checked_number(
          {.name = runs_note, .minimum = 1, .maximum = 1000, .whole = true}, runs->second));
  }
  if (scenario.fidelity != Fidelity::automatic)
    return;
  const auto fidelity = before.find("fidelity");
  const bool step = fidelity != before.end() && fidelity->second == "step";
  scenario.fidelity = step ? Fidelity::step : Fidelity::flow;
  if (fidelity != before.end())
    return;
  scenario.written["fidelity"] = "flow";  // as the option was then
  scenario.written.erase("repeats");
}

void add_cells(const std::string& stem, bool as_blessed, CheckFolder& folder) {
  const Sweep sweep = expand(parse_sections(folder.path + "/" + stem + ".cfg"));
  print_left_out(sweep, {});
  for (Scenario scenario : sweep.cells) {
    const std::string name =
        printable(stem) +
        (sweep.swept.empty() ? "" : "/" + cell_name(scenario.written, sweep.swept));
    if (as_blessed)
      simulate_as_blessed(scenario, folder.notes_before(name));
    folder.cells.push_back(
        {.name = name, .cell = {.scenario = scenario}, .result = {}, .notes = {}, .error = {}});
  }
  if (folder.cells.size() > most_cells)
    throw std::invalid_argument(brief_path(folder.path) + ": more than " +
                                std::to_string(most_cells) + " cells: allowed are so many");
}

// "there is no ring.cfg", or which cells it has.
std::string why_missing(const CheckFolder& folder, const std::string& cell) {
  std::vector<std::string> names;
  for (const CheckedCell& other : folder.cells)
    if (stem_of(other.name) == stem_of(cell))
      names.push_back(other.name);
  if (names.empty())
    return "there is no " + stem_of(cell) + ".cfg with cells";
  return "there is no such cell: " + brief(listed(names)) +
         (names.size() == 1 ? " is all there is" : " are there");
}

}  // namespace

Notes CheckFolder::notes_before(const std::string& name) const {
  Notes notes;
  for (const Expectation& row : expected.rows)
    if (row.cell == name && !row.is_judged())
      notes[row.figure] = row.expected;
  return notes;
}

CheckFolder read_check_folder(const std::string& path, bool all) {
  CheckFolder folder{.path = path, .expected = {}, .cells = {}, .not_checked = {}};
  const std::vector<std::string> stems = scenarios_in(path);
  const std::string csv = path + "/expected.csv";
  std::error_code error;
  if (fs::exists(csv, error))
    folder.expected = read_expected(csv);
  else if (!all)
    throw std::invalid_argument(brief_path(csv) +
                                ": no such file: --bless --because TEXT writes it");
  std::set<std::string> named;
  for (const Expectation& row : folder.expected.rows)
    named.insert(stem_of(row.cell));
  for (const std::string& stem : stems)
    if (all || named.contains(printable(stem)))
      add_cells(stem, !all, folder);
    else
      folder.not_checked.push_back(printable(stem) + ".cfg");
  return folder;
}

std::vector<Verdict> judge(const CheckFolder& folder) {
  std::vector<Verdict> verdicts;
  const auto add = [&](Verdict::Kind kind, const std::string& cell, const std::string& expected,
                       const std::string& now, const std::string& why) {
    verdicts.push_back(
        {.kind = kind, .cell = cell, .expected = expected, .now = now, .why = {why}});
  };
  std::set<std::string> seen;  // cells
  for (const Expectation& row : folder.expected.rows) {
    const bool first = seen.insert(row.cell).second;
    const auto cell = std::ranges::find(folder.cells, row.cell, &CheckedCell::name);
    const bool is_there = cell != folder.cells.end();
    if (is_there && cell->error.empty()) {
      if (row.is_judged())
        verdicts.push_back(judge(row, cell->result, folder.notes_before(row.cell), cell->notes));
    } else if (first && !is_there) {
      add(Verdict::Kind::moved, row.cell, "", "missing", why_missing(folder, row.cell));
    } else if (first) {
      add(Verdict::Kind::failed, row.cell, "", "not simulated", cell->error);
    }
  }
  for (const CheckedCell& cell : folder.cells)
    if (!seen.contains(cell.name))
      add(Verdict::Kind::moved, cell.name, "no such cell", "there",
          "no row of expected.csv: --bless --because TEXT adds it");
  for (const std::string& file : folder.not_checked)
    add(Verdict::Kind::not_checked, file, "", "", "no row of expected.csv names a cell of it");
  return verdicts;
}

ExpectedFile blessed(const CheckFolder& folder, const std::string& because) {
  ExpectedFile file{.comments = folder.expected.comments, .rows = {}};
  for (const CheckedCell& cell : folder.cells) {
    std::vector<Expectation> rows;
    bool any = false;
    for (const Expectation& row : folder.expected.rows)
      if (row.cell == cell.name) {
        any = true;
        if (row.is_judged())
          rows.push_back(row);
      }
    if (!any)
      rows.push_back({.cell = cell.name,
                      .figure = new_figure,
                      .expected = figure_text(*find_figure(new_figure), cell.result),
                      .tolerance = tolerance_of_new_rows,
                      .because = because});
    for (Expectation& row : rows) {
      Expectation unbounded = row;
      unbounded.at_least.reset();
      unbounded.at_most.reset();
      if (!row.tolerance || judge(unbounded, cell.result, {}, {}).kind == Verdict::Kind::met)
        continue;
      row.expected = figure_text(*find_figure(row.figure), cell.result);
      if (row.expected.empty())
        throw std::runtime_error(cell.name + ": " + row.figure + ": " +
                                 why_unknown(cell.result, row.figure) +
                                 ": allowed are figures that the cell has");
      row.because = because;
    }
    if (std::ranges::any_of(rows, [](const Expectation& row) { return row.tolerance.has_value(); }))
      for (const auto& [figure, value] : cell.notes)
        if (std::ranges::find(rows, figure, &Expectation::figure) == rows.end())
          rows.push_back({.cell = cell.name, .figure = figure, .expected = value});
    const auto is_of_runs = [](const Expectation& row) { return row.figure == runs_note; };
    if (cell.result.figures.runs > 1 && std::ranges::none_of(rows, is_of_runs))
      rows.push_back({.cell = cell.name,
                      .figure = runs_note,
                      .expected = std::to_string(cell.result.figures.runs)});
    file.rows.insert(file.rows.end(), rows.begin(), rows.end());
  }
  return file;
}

}  // namespace syncline

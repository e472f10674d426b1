#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>

#include "kernels/io/text.h"
#include "kernels/io/whole_file.h"
#include "sim/commands/commands.h"
#include "sim/commands/files.h"
#include "sim/commands/results_json.h"
#include "sim/options/expand.h"
#include "sim/page/tables.h"
#include "sim/report/result_json.h"
#include "sim/study/comparison.h"
#include "sim/study/missing.h"
#include "sim/study/names.h"
#include "sim/study/pooled.h"
#include "sim/study/ranking.h"
#include "sim/sweep/cell_inputs.h"
#include "sim/sweep/out_folder.h"
#include "sim/sweep/slurm.h"
#include "sim/sweep/sweep.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

// A parsed command line.
struct Request {
  Limits limits;
  Sweep sweep;
  int jobs = 1;
  Exports exports;  // files of a single cell
  bool slurm = false;
  Share share;
  bool keeps = false;   // keeps the cells' files in the folder of --out
  bool traces = false;  // keeps every cell's trace there
  bool resumes = false;
  bool is_part = false;  // of a sweep: other processes simulate the rest
  bool json = false;
};

void refuse_flags_that_do_not_fit(const CommandLine& line, const Request& request) {
  for (const std::string flag : {"trace", "resume", "slurm", "share"})
    if (!request.keeps && line.has(flag) && (request.traces || flag != "trace"))
      throw std::invalid_argument("--" + flag + " needs --out DIR: that is where cells are kept");
  if (request.slurm && request.exports.any())
    throw std::invalid_argument(
        "--slurm with files of a single cell: allowed is one of them at a time");
  for (const std::string flag : {"share", "html", "md", "json"})
    if (request.slurm && line.has(flag))
      throw std::invalid_argument("--" + flag + " with --slurm: allowed is one of them at a time");
  if (line.flag("out") == "")  // files would be written into /
    throw std::invalid_argument("--out is empty: allowed is the path of a folder");
}

SweepCell cell_to_simulate(const Scenario& scenario, const std::string& path,
                           const Request& request) {
  SweepCell cell{.scenario = scenario, .exports = request.exports};
  if (request.keeps) {
    cell.result_path = path + ".json";
    cell.learned_path = path;
  }
  if (request.traces) {
    cell.trace_csv = path + ".trace.csv";
    cell.exports.trace = path + ".trace.json";
  }
  return cell;
}

// Reserves the files that cells read and write, so that no other flag names them.
void reserve_files_of_cells(const CommandLine& line, const Request& request, OutputPaths& places) {
  for (const std::string& path : line.arguments)
    places.reserve(path, "what this command reads");
  std::set<std::string> read;
  for (const Scenario& scenario : request.sweep.cells)
    read.insert({scenario.platform, scenario.model, scenario.cost_table});
  for (const std::string& path : read)
    places.reserve(path, "what this command reads");
  const auto names_files = [&](const char* flag) { return line.flag(flag).value_or("on") != "on"; };
  if (!request.keeps ||
      std::ranges::none_of(std::array{"html", "md", "trace", "goal", "chakra"}, names_files))
    return;
  const std::string out = line.flags.at("out") + "/";
  places.reserve(out + "results.csv", "what --out writes");
  for (const Scenario& scenario : request.sweep.cells) {
    const std::string path = out + cell_name(scenario.written, request.sweep.swept);
    for (const std::string& file : cell_to_simulate(scenario, path, request).kept_files())
      places.reserve(file, "what --out writes");
  }
}

Request request_of(const CommandLine& line, OutputPaths& places) {
  Request request{
      .limits = limits_of(line), .sweep = expand(merged_with_file(line)), .jobs = jobs_of(line)};
  request.keeps = line.has("out");
  request.traces = line.flag("trace") == "on";
  reserve_files_of_cells(line, request, places);
  request.exports = exports_of(line, request.sweep, places);
  request.slurm = tasks_of(line) > 0;
  request.share = share_of(line);
  request.resumes = line.has("resume") || request.slurm;
  request.is_part = line.has("share");
  request.json = line.has("json");
  refuse_flags_that_do_not_fit(line, request);
  return request;
}

// A cell of this process's share, with its result or error.
struct RunCell {
  std::size_t number = 0;  // in the sweep
  std::string name;
  SweepCell cell;
  std::optional<Result> result = {};
  std::string error = {};
};

std::optional<Result> finished_result(const SweepCell& cell) {
  auto result = read_result(cell.result_path);
  return result && is_finished(cell, *result) ? std::move(result) : std::nullopt;
}

// Throws if a file that the cell will write into --out exists and was not written by `run`.
void require_files_of_cell_to_be_ours(const SweepCell& cell, const OutFolder& out) {
  for (const std::string& file : cell.kept_files())
    out.require_ours(fs::path(file).filename());
}

// The cells of this share; with --resume, the finished ones have their results.
std::vector<RunCell> cells_of(const Request& request, const OutFolder& out) {
  if (request.keeps)
    out.require_ours("results.csv");
  std::vector<RunCell> cells;
  for (std::size_t i = 0; i < request.sweep.cells.size(); ++i) {
    if (!request.share.has(i))
      continue;
    const Scenario& scenario = request.sweep.cells[i];
    const std::string name = cell_name(scenario.written, request.sweep.swept);
    cells.push_back({i, name, cell_to_simulate(scenario, out.path() + "/" + name, request)});
    RunCell& last = cells.back();
    if (request.keeps)
      require_files_of_cell_to_be_ours(last.cell, out);
    if (request.resumes && (last.result = finished_result(last.cell)))
      keep_learned(last.cell, *last.result);
  }
  return cells;
}

std::vector<CellOptions> cells_in(const Sweep& sweep) {
  std::vector<CellOptions> cells;
  for (const Scenario& scenario : sweep.cells)
    cells.push_back(written_options(scenario));
  return cells;
}

// Writes the table with all cells of the sweep, so that readers of the folder know what is missing.
// A share writes none, because other processes write there too.
void write_results(const std::vector<Result>& results, const Request& request,
                   const OutFolder& out) {
  if (request.keeps && !request.is_part)
    write_atomically(
        out.path() + "/results.csv",
        results_csv(results, option_names(), without_result(cells_in(request.sweep), results)));
}

std::vector<Result> results_of(const std::vector<RunCell>& cells) {
  std::vector<Result> results;
  for (const RunCell& cell : cells)
    if (cell.result)
      results.push_back(*cell.result);
  return results;
}

// Simulates the cells without a result. Returns true if it was interrupted before it had all.
// Writes the table as soon as there is one result, because a run may be killed.
bool simulate_missing(std::vector<RunCell>& cells, const std::vector<RunCell*>& missing,
                      const Request& request, const OutFolder& out) {
  std::vector<SweepCell> to_simulate;
  for (const RunCell* cell : missing)
    to_simulate.push_back(cell->cell);
  bool has_table = to_simulate.size() < 2;
  try {
    simulate_all(to_simulate, request.jobs, request.limits, [&](std::size_t i, CellResult cell) {
      missing[i]->result = std::move(cell.result);
      missing[i]->error = std::move(cell.error);
      if (!has_table && missing[i]->result)
        write_results(results_of(cells), request, out);
      has_table = has_table || missing[i]->result;
    });
    return false;
  } catch (const Interrupted&) {
    if (request.keeps)  // some may be written but not yet reported
      for (RunCell* cell : missing)
        if (auto finished = finished_result(cell->cell))
          cell->result = std::move(finished);
    return true;
  }
}

struct Outcomes {
  std::vector<Result> results;
  std::vector<std::string> names;   // of their cells
  std::vector<std::string> errors;  // of cells without a result
  std::string interrupted;          // says how many cells are missing; empty: not interrupted
  std::string without;              // the cells of the sweep without a result; empty: none
};

Outcomes outcomes_of(std::vector<RunCell>& cells, bool interrupted, bool keeps) {
  Outcomes outcomes;
  for (RunCell& cell : cells) {
    if (!cell.error.empty())
      outcomes.errors.push_back(cell.error);
    if (!cell.result)
      continue;
    outcomes.results.push_back(std::move(*cell.result));
    outcomes.names.push_back(cell.name);
  }
  if (interrupted)
    outcomes.interrupted =
        fmt::format("interrupted: {} of {} cells are missing{}",
                    cells.size() - outcomes.results.size() - outcomes.errors.size(), cells.size(),
                    keeps ? "; the same command with --resume simulates them" : "");
  return outcomes;
}

void print_comparison(const Pool& pool, const std::vector<std::string>& swept,
                      const std::string& without) {
  std::fputs(comparison_table(pool.results, swept).c_str(), stdout);
  for (const std::string& note : pool.notes)
    std::puts(note.c_str());
  const Comparison compared = comparison_of(pool.results);
  for (const auto& [cells, text] : warnings_of(compared))
    std::printf("warning (%s): %s\n", cells.c_str(), text.c_str());
  for (const std::string& sentence : rank(compared, without).sentences)
    std::puts(sentence.c_str());
}

// Prints the results and writes their report. Returns the exit code.
int present(const Outcomes& outcomes, const Request& request, const ReportFiles& files) {
  const Sweep& sweep = request.sweep;
  int code = print_left_out(sweep, outcomes.errors);
  const Pool pool = pooled(outcomes.results);
  PageContent content{.results = pool.results,
                      .rows = {},
                      .missing = {},
                      .without = outcomes.without,
                      .notes = pool.notes,
                      .command = files.command};
  if (!outcomes.interrupted.empty()) {
    code = interrupted_exit_code;
    content.missing.push_back(outcomes.interrupted);
    std::fprintf(stderr, "syncline: %s\n", outcomes.interrupted.c_str());
  }
  for (const std::string& error : std::set(outcomes.errors.begin(), outcomes.errors.end()))
    content.missing.push_back("cells left out: " + printable(error));
  if (request.json) {
    write_report(files, content);
    print_json(results_json(outcomes.results, outcomes.names, pool, sweep.left_out, content.missing,
                            outcomes.without));
    return code;
  }
  if (sweep.swept.empty())
    std::fputs(full_report(outcomes.results.front()).c_str(), stdout);
  else
    print_comparison(pool, sweep.swept, outcomes.without);
  std::fputs(write_report(files, content).c_str(), stdout);
  return code;
}

}  // namespace

int run_command(const std::vector<std::string>& arguments) {
  const CommandLine line = command_line("run", arguments);
  OutputPaths places;
  Request request = request_of(line, places);
  const ReportFiles files = report_files(line, places);
  request.exports.places = places;
  const OutFolder out(line.flag("out").value_or(""), request.is_part);
  std::vector<RunCell> cells = cells_of(request, out);
  std::vector<RunCell*> missing;
  std::vector<std::size_t> numbers;  // of the missing cells
  for (RunCell& cell : cells)
    if (!cell.result) {
      missing.push_back(&cell);
      numbers.push_back(cell.number);
    }
  if (request.slurm && !missing.empty()) {
    submit(line, numbers);
    return 0;
  }
  const bool interrupted = simulate_missing(cells, missing, request, out);
  Outcomes outcomes = outcomes_of(cells, interrupted, request.keeps);
  outcomes.without = missing_shown(cells_in(request.sweep), outcomes.results);
  if (outcomes.results.empty()) {
    if (interrupted)
      throw Interrupted();
    if (!outcomes.errors.empty())
      throw std::runtime_error(outcomes.errors.front());
    if (request.json)
      print_json(results_json({}, {}, {}, request.sweep.left_out, {}));
    else
      std::puts("this share has no cells");
    return 0;
  }
  write_results(outcomes.results, request, out);
  return present(outcomes, request, files);
}

}  // namespace syncline

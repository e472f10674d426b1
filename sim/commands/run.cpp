#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>

#include "kernels/io/text.h"
#include "kernels/io/whole_file.h"
#include "sim/commands/commands.h"
#include "sim/commands/gate.h"
#include "sim/commands/report_files.h"
#include "sim/commands/results_json.h"
#include "sim/options/expand.h"
#include "sim/options/given.h"
#include "sim/page/tables.h"
#include "sim/report/learned_tables.h"
#include "sim/report/result_file.h"
#include "sim/report/result_json.h"
#include "sim/study/ranking.h"
#include "sim/study/study.h"
#include "sim/sweep/out_folder.h"
#include "sim/sweep/slurm.h"
#include "sim/sweep/sweep.h"
#include "sim/sweep/written.h"

namespace syncline {

namespace fs = std::filesystem;

namespace {

bool option_given(const Scenario& scenario, const std::string& option) {
  const auto found = scenario.written.find(option);
  return found != scenario.written.end() && !found->second.empty();
}

}  // namespace

int run_command(const std::vector<std::string>& arguments) {
  std::vector<Flag> flags = limit_flags();
  flags.insert(
      flags.end(),
      {{"out", true}, {"jobs", true}, {"resume", false}, {"goal", true}, {"chakra", true}});
  flags.insert(flags.end(), {{"html", true}, {"slurm", true}, {"share", true}, {"json", false}});
  flags.push_back({.name = "trace", .value_is_optional = true});
  const CommandLine line = parse_command_line(arguments, flags);
  const Limits limits = limits_of(line);
  const Sweep sweep = expand(merged_with_file(line));
  const int jobs = jobs_of(line);
  const bool keep = line.flags.contains("out");
  const Exports exports = exports_of(line, sweep);
  const bool trace = line.flags.contains("trace") && exports.trace.empty();
  const bool slurm = tasks_of(line) > 0;
  const bool resume = line.flags.contains("resume") || slurm;
  const bool part = line.flags.contains("share");
  const bool json = line.flags.contains("json");
  const Share share = share_of(line);
  for (const char* flag : {"trace", "resume", "slurm", "share"})
    if (!keep && line.flags.contains(flag) && (trace || flag != std::string("trace")))
      throw std::invalid_argument(std::string("--") + flag +
                                  " needs --out DIR: that is where cells are kept");
  if (slurm && exports.any())
    throw std::invalid_argument(
        "--slurm with files of a single cell: allowed is one of them at a time");
  for (const char* flag : {"share", "html", "json"})
    if (slurm && line.flags.contains(flag))
      throw std::invalid_argument(std::string("--") + flag +
                                  " with --slurm: allowed is one of them at a time");
  if (keep && line.flags.at("out").empty())  // it would be the folder of all, /
    throw std::invalid_argument("--out is empty: allowed is the path of a folder");
  const ReportFiles files = report_files(line);
  const OutFolder out(keep ? line.flags.at("out") : "", part);

  if (keep)
    out.require_ours("results.csv");

  std::vector<std::optional<Result>> found(sweep.cells.size());
  std::vector<std::size_t> numbers;  // of the cells to simulate
  std::vector<SweepCell> cells;
  std::vector<std::string> names(sweep.cells.size());
  std::size_t all = 0;  // cells of this share
  for (std::size_t i = 0; i < sweep.cells.size(); ++i) {
    if (!share.has(i))
      continue;
    ++all;
    names[i] = cell_name(sweep.cells[i].written, sweep.swept);
    const std::string path = out.path() + "/" + names[i];
    SweepCell cell{
        .scenario = sweep.cells[i], .result_path = keep ? path + ".json" : "", .exports = exports};
    if (trace) {
      cell.trace_csv = path + ".trace.csv";
      cell.exports.trace = path + ".trace.json";
    }
    std::vector<std::string> files{cell.result_path, cell.trace_csv,
                                   trace ? cell.exports.trace : ""};
    if (keep)
      cell.learned_path = path;
    if (keep && option_given(cell.scenario, "learn"))
      for (const LearnedTable& table : learned_tables())
        files.push_back(path + "." + table.name + ".csv");
    for (const std::string& file : files)
      if (!file.empty())
        out.require_ours(fs::path(file).filename());
    if (auto kept = resume ? read_result(cell.result_path) : std::nullopt;
        kept && is_finished(cell, *kept)) {
      keep_learned(cell, *kept);
      found[i] = std::move(kept);
      continue;
    }
    numbers.push_back(i);
    cells.push_back(cell);
  }
  if (slurm && !cells.empty()) {
    submit(line, numbers);
    return 0;
  }
  std::vector<std::string> errors(sweep.cells.size());
  bool interrupted = false;
  try {
    simulate_all(cells, jobs, limits, [&](std::size_t i, CellResult cell) {
      found[numbers[i]] = std::move(cell.result);
      errors[numbers[i]] = std::move(cell.error);
    });
  } catch (const Interrupted&) {
    interrupted = true;
    for (std::size_t i = 0; keep && i < cells.size(); ++i)  // written, and not yet said
      if (auto kept = read_result(cells[i].result_path); kept && is_finished(cells[i], *kept))
        found[numbers[i]] = std::move(kept);
  }
  std::erase_if(errors, [](const std::string& error) { return error.empty(); });
  std::vector<Result> results;  // those without one go, with their names
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i]) {
      std::swap(names[results.size()], names[i]);
      results.push_back(std::move(*found[i]));
    }
  if (interrupted && results.empty())
    throw Interrupted();
  if (results.empty() && errors.empty()) {
    if (json)
      print_json(results_json({}, {}, sweep.left_out, {}));
    else
      std::puts("this share has no cells");
    return 0;
  }
  if (results.empty())
    throw std::runtime_error(errors.front());
  if (keep && !part && !interrupted)
    write_atomically(out.path() + "/results.csv", results_csv(results, option_names()));

  int code = print_left_out(sweep, errors);
  Findings findings{.results = results, .rows = {}, .missing = {}};
  if (interrupted) {
    code = interrupted_exit_code;
    findings.missing.push_back(
        "interrupted: " + std::to_string(all - results.size() - errors.size()) + " of " +
        std::to_string(all) + " cells are missing" +
        (keep ? "; the same command with --resume simulates them" : ""));
    std::fprintf(stderr, "syncline: %s\n", findings.missing.back().c_str());
  }
  for (const std::string& error : std::set(errors.begin(), errors.end()))
    findings.missing.push_back("cells left out: " + printable(error));
  if (json) {
    write_report(files, findings);
    print_json(results_json(results, names, sweep.left_out, findings.missing));
    return code;
  }
  if (sweep.swept.empty()) {
    std::fputs(full_report(results.front()).c_str(), stdout);
    std::fputs(write_report(files, findings).c_str(), stdout);
    return code;
  }
  std::fputs(comparison_table(results, sweep.swept).c_str(), stdout);
  std::vector<std::string> warned;
  for (std::size_t i = 0; i < results.size(); ++i)
    for (const std::string& warning : results[i].figures.warnings)
      if (std::ranges::find(warned, warning) == warned.end()) {
        warned.push_back(warning);
        std::printf("warning (%s): %s\n", names[i].c_str(), warned.back().c_str());
      }
  for (const std::string& sentence : rank(results).sentences)
    std::puts(sentence.c_str());
  std::fputs(write_report(files, findings).c_str(), stdout);
  return code;
}

}  // namespace syncline

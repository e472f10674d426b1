#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "kernels/text.h"
#include "kernels/whole_file.h"
#include "sim/commands/commands.h"
#include "sim/commands/out_folder.h"
#include "sim/commands/report_files.h"
#include "sim/commands/sweep.h"
#include "sim/commands/written.h"
#include "sim/options/expand.h"
#include "sim/options/given.h"
#include "sim/report/ranking.h"
#include "sim/report/result.h"
#include "sim/report/tables.h"

namespace syncline {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

int run_command(const std::vector<std::string>& arguments) {
  std::vector<Flag> flags = limit_flags();
  flags.insert(
      flags.end(),
      {{"out", true}, {"jobs", true}, {"resume", false}, {"trace", false}, {"html", true}});
  const CommandLine line = parse_command_line(arguments, flags);
  const Limits limits = limits_of(line);
  const Sweep sweep = expand(merged_with_file(line));
  const int jobs = jobs_of(line);
  const bool keep = line.flags.contains("out");
  const bool trace = line.flags.contains("trace");
  const bool resume = line.flags.contains("resume");
  if (!keep && (trace || resume))
    throw std::invalid_argument(std::string(trace ? "--trace" : "--resume") +
                                " needs --out DIR: that is where cells are kept");
  if (keep && line.flags.at("out").empty())  // it would be the folder of all, /
    throw std::invalid_argument("--out is empty: allowed is the path of a folder");
  const ReportFiles files = report_files(line);
  const OutFolder out(keep ? line.flags.at("out") : "");

  if (keep)
    out.require_ours("results.csv");

  std::vector<Json> results(sweep.cells.size());
  std::vector<std::size_t> numbers;  // of the cells to simulate
  std::vector<SweepCell> cells;
  std::vector<std::string> names(sweep.cells.size());
  std::vector<std::string> paths(sweep.cells.size());
  for (std::size_t i = 0; i < sweep.cells.size(); ++i) {
    names[i] = cell_name(sweep.cells[i].written, sweep.swept);
    paths[i] = out.path() + "/" + names[i];
    const std::string trace_path = trace ? paths[i] + ".trace.csv" : "";
    for (const std::string& path : {paths[i] + ".json", trace_path})
      if (keep && !path.empty())
        out.require_ours(fs::path(path).filename());
    const SweepCell cell{sweep.cells[i], trace_path};
    if (Json kept = resume ? read_result(paths[i] + ".json") : Json(); is_finished(cell, kept)) {
      results[i] = std::move(kept);
      continue;
    }
    numbers.push_back(i);
    cells.push_back(cell);
  }
  const auto simulated = simulate_all(cells, jobs, limits, [&](std::size_t i, const Json& result) {
    if (keep)
      write_atomically(paths[numbers[i]] + ".json", result_text(result));
  });
  std::vector<std::string> errors;
  for (std::size_t i = 0; i < simulated.size(); ++i) {
    results[numbers[i]] = simulated[i].result;
    if (!simulated[i].error.empty())
      errors.push_back(simulated[i].error);
  }
  std::size_t kept = 0;  // those without a result go, with their names
  for (std::size_t i = 0; i < results.size(); ++i)
    if (!results[i].is_null()) {
      std::swap(results[kept], results[i]);
      std::swap(names[kept++], names[i]);
    }
  results.resize(kept);
  if (results.empty())
    throw std::runtime_error(errors.front());
  if (keep)
    write_atomically(out.path() + "/results.csv", results_csv(results, option_names()));

  const int code = print_left_out(sweep, errors);
  Findings findings{.results = results, .rows = {}, .missing = {}};
  for (const std::string& error : std::set(errors.begin(), errors.end()))
    findings.missing.push_back("cells left out: " + printable(error));
  if (sweep.swept.empty()) {
    std::fputs(full_report(results.front()).c_str(), stdout);
    std::fputs(write_report(files, findings).c_str(), stdout);
    return code;
  }
  std::fputs(comparison_table(results, sweep.swept).c_str(), stdout);
  std::vector<std::string> warned;
  for (std::size_t i = 0; i < results.size(); ++i)
    for (const Json& warning : results[i]["figures"]["warnings"])
      if (std::ranges::find(warned, warning.get<std::string>()) == warned.end()) {
        warned.push_back(warning);
        std::printf("warning (%s): %s\n", names[i].c_str(), warned.back().c_str());
      }
  for (const std::string& sentence : rank(results).sentences)
    std::puts(sentence.c_str());
  std::fputs(write_report(files, findings).c_str(), stdout);
  return code;
}

}  // namespace syncline

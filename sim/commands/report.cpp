#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>

#include "kernels/io/text.h"
#include "kernels/io/whole_file.h"
#include "sim/commands/commands.h"
#include "sim/commands/files.h"
#include "sim/commands/results_json.h"
#include "sim/gate/history.h"
#include "sim/options/options.h"
#include "sim/options/user_input.h"
#include "sim/page/svg.h"
#include "sim/page/tables.h"
#include "sim/report/result_json.h"
#include "sim/study/comparison.h"
#include "sim/study/missing.h"
#include "sim/study/pooled.h"
#include "sim/study/ranking.h"
#include "sim/sweep/cell_inputs.h"
#include "sim/sweep/out_folder.h"
#include "sim/sweep/sweep.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t most_result_bytes = 20'000'000;

struct Folder {
  std::vector<Result> results;
  std::vector<std::string> names;   // of their cells
  std::vector<std::string> others;  // names of files without a whole result
};

// Reads the number at the beginning and removes it from the text; none if there is no digit.
std::optional<double> taken_number(std::string_view& text) {
  if (text.empty() || text[0] < '0' || text[0] > '9')
    return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// Orders names with their numbers as numbers: 4 workers before 32, a factor of 0.25 before 0.5.
bool comes_before(std::string_view a, std::string_view b) {
  const std::pair whole{a, b};
  while (!a.empty() && !b.empty()) {
    const auto numbers = std::pair(taken_number(a), taken_number(b));
    if (numbers.first != numbers.second)
      return numbers.first < numbers.second;
    if (numbers.first)
      continue;
    if (a[0] != b[0])
      return a[0] < b[0];
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.empty() && b.empty() ? whole.first < whole.second : a.empty();
}

std::vector<std::string> json_files_in(const std::string& path) {
  if (path.empty())
    throw std::invalid_argument("an empty name: allowed is the folder of --out");
  std::vector<std::string> names;
  for (const fs::path& entry : entries_of(path))
    if (const std::string name = entry.filename();
        name.ends_with(".json") && !name.ends_with(".trace.json"))
      names.push_back(name);
  std::ranges::sort(names, comes_before);
  return names;
}

Folder read_folder(const std::string& path) {
  Folder folder;
  for (const std::string& name : json_files_in(path)) {
    const std::string file = path + "/" + name;
    std::error_code error;
    const auto bytes = fs::file_size(file, error);
    auto result = error || bytes > most_result_bytes ? std::nullopt : read_result(file);
    if (!result || result->schema > result_schema)
      folder.others.push_back(name);
    else if (folder.results.size() < most_cells) {
      folder.results.push_back(std::move(*result));
      folder.names.push_back(printable(fs::path(name).stem()));
    } else
      throw std::runtime_error(brief_path(path) + ": more than " + std::to_string(most_cells) +
                               " results: allowed are as many as a sweep may have");
  }
  return folder;
}

// "results: 2 files are left out, which hold no whole result of this version: a.json, b.json".
std::string left_out(const std::string& path, const std::vector<std::string>& names) {
  constexpr std::size_t most_named = 10;
  std::string text = fmt::format(
      "{}: {} no whole result of this version: ", brief_path(path),
      names.size() == 1 ? "1 file is left out, which holds"
                        : fmt::format("{} files are left out, which hold", names.size()));
  for (std::size_t i = 0; i < std::min(names.size(), most_named); ++i)
    text += (i == 0 ? "" : ", ") + brief(names[i]);
  if (names.size() > most_named)
    text += fmt::format(" and {} more", names.size() - most_named);
  return text;
}

// Which files a result's options name, and whether tables of costs and of software are read.
std::string named_files(const Result& result) {
  std::string key;
  for (const char* option :
       {"platform", "model", "device", "framework", "reality", "learn", "data"})
    key += result.option(option) + "\n";
  for (const auto& [option, value] :
       {std::pair("compressor", "none"), {"server-overhead", "none"}, {"fidelity", "analytic"}})
    key += result.option(option) == value ? "=" : "!";
  return key;
}

// "results: a and b name the same files, which have changed between their runs"; empty if there is
// no such pair.
std::string changed_inputs(const std::string& path, const Folder& folder) {
  std::map<std::string, std::size_t> first;  // of those that name the same files
  for (std::size_t i = 0; i < folder.results.size(); ++i) {
    const auto [same, added] = first.emplace(named_files(folder.results[i]), i);
    if (!added && folder.results[same->second].inputs != folder.results[i].inputs)
      return fmt::format(
          "{}: {} and {} name the same files, which have changed between their runs, and do not "
          "compare: run the sweep again with --resume, or delete the older one",
          brief_path(path), brief(folder.names[same->second]), brief(folder.names[i]));
  }
  return "";
}

// Notes which cells of the sweep have no result in the folder.
void note_missing_cells(const std::string& folder, const std::vector<Result>& results,
                        PageContent& content) {
  try {
    content.without = missing_shown(cells_listed_in(folder + "/results.csv"), results);
    if (!content.without.empty())
      content.missing.push_back(content.without + " of results.csv have no result here");
  } catch (const std::runtime_error& error) {
    content.missing.push_back(std::string(error.what()) +
                              ": whether cells are missing is not known");
  }
}

// Writes the table. Returns a line that says where it is; empty if no table is asked for.
std::string write_table(const std::string& path, const std::vector<Result>& results) {
  if (path.empty())
    return "";
  write_atomically(path, results_csv(results, option_names()));
  return "table: " + printable(path) + "\n";
}

// Reports figures over commits, from a file of check --history.
int report_history(const std::string& path, const CommandLine& line) {
  for (const std::string flag : {"html", "md", "csv"})
    if (line.has(flag))
      throw std::invalid_argument("--" + flag + " with " + brief_path(path) +
                                  ": allowed with a file of check --history are --svg and --json");
  const History history = read_history(path);
  if (history.empty())
    throw std::runtime_error(brief_path(path) + ": holds no commit: check --history FILE adds one");
  std::string where;
  if (const std::string folder = path_of(line, "svg", "folder"); !folder.empty()) {
    std::vector<Drawing> figures;
    for (const Chart& chart : history_charts(history))
      figures.push_back({chart.id + ".svg", svg_of(chart, brief_path(path))});
    where = write_figures(folder, figures, {});
  }
  if (line.has("json")) {
    nlohmann::ordered_json lines = nlohmann::ordered_json::array();
    for (const HistoryLine& one : lines_of(history))
      lines.push_back(
          {{"cell", one.cell}, {"figure", one.figure}, {"at", one.at}, {"values", one.values}});
    print_json({{"commits", commits_of(history)}, {"lines", lines}});
    return 0;
  }
  std::fputs(history_table(history).c_str(), stdout);
  for (const Chart& chart : history_charts(history))
    std::printf("%s: %s\n", chart.title.c_str(), chart.sentence.c_str());
  std::fputs(where.c_str(), stdout);
  return 0;
}

// Replaces the sweep's best-of by the best-of given to this command. The order in which the sweep
// listed its seeds is not known, so the smallest seeds choose.
std::vector<Result> chosen_by(const GivenOptions& given, std::vector<Result> results) {
  if (given.empty())
    return results;
  Scenario scenario;
  for (const std::string name : {"best-of", "best-of-seeds"})
    if (const auto found = given.find(name); found != given.end())
      try {
        option_called(name).set(scenario, found->second.value);
      } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(found->second.where + ": " + error.what());
      }
  std::set<double> seeds = numbers_of(results, "seed");
  while (seeds.size() > static_cast<std::size_t>(scenario.best_of_seeds.value_or(1)))
    seeds.erase(std::prev(seeds.end()));
  std::vector<std::string> choosing;
  for (const double seed : seeds)
    choosing.push_back(number_text(seed));
  for (Result& result : results) {
    std::erase_if(result.options,
                  [](const WrittenOption& option) { return option.name.starts_with("best-of"); });
    result.options.push_back({.name = "best-of", .value = scenario.best_of});
    result.options.push_back(
        {.name = "best-of-seeds", .value = fmt::format("seeds {}", fmt::join(choosing, ", "))});
  }
  return results;
}

// Whether there is one argument and, of the options of scenarios, only those of best-of: they
// change nothing that was simulated.
bool takes(const CommandLine& line) {
  const bool chooses = line.options.contains("best-of");
  return line.arguments.size() == 1 && std::ranges::all_of(line.options, [&](const auto& option) {
           return chooses && option.first.starts_with("best-of");
         });
}

}  // namespace

int report_command(const std::vector<std::string>& arguments) {
  const CommandLine line = command_line("report", arguments);
  if (!takes(line))
    throw std::invalid_argument(
        "report takes the folder that run --out has written, or the file of check --history, "
        "--html FILE, --svg DIR, --md FILE, --csv FILE, --json, and --best-of OPTION, with "
        "--best-of-seeds N");
  const std::string& path = line.arguments.front();
  std::error_code error;
  if (path.ends_with(".csv") && fs::is_regular_file(path, error))
    return report_history(path, line);
  OutputPaths places;
  const ReportFiles files = report_files(line, places);
  places.reserve(path + "/results.csv", "what this command reads");
  const std::string table = place_of(line, "csv", begin_of_results(), places);
  const Folder folder = read_folder(path);
  const std::string others = folder.others.empty() ? "" : left_out(path, folder.others);
  if (folder.results.empty())
    throw std::runtime_error(others.empty() ? brief_path(path) + ": holds no result: allowed is " +
                                                  "the folder that run --out has written"
                                            : others);
  const Pool pool = pooled(chosen_by(line.options, folder.results));
  PageContent content{.results = pool.results,
                      .rows = {},
                      .missing = {},
                      .notes = pool.notes,
                      .command = files.command};
  const std::string changed = changed_inputs(path, folder);
  for (const std::string& fault : {others, changed})
    if (!fault.empty())
      content.missing.push_back(fault);
  note_missing_cells(path, folder.results, content);
  const std::string where = write_report(files, content) + write_table(table, folder.results);
  const std::vector<Result>& results = folder.results;
  if (line.has("json")) {
    print_json(results_json(results, folder.names, pool, {}, content.missing, content.without));
  } else {
    const std::string figures = results.size() == 1
                                    ? full_report(results.front())
                                    : comparison_table(pool.results, telling_options(results));
    std::fputs(figures.c_str(), stdout);
    for (const std::string& note : pool.notes)
      std::puts(note.c_str());
    for (const std::string& sentence : rank(comparison_of(pool.results), content.without).sentences)
      std::puts(sentence.c_str());
    std::fputs(where.c_str(), stdout);
  }
  for (const std::string& fault : {others, changed})
    if (!fault.empty())
      std::fprintf(stderr, "syncline: %s\n", fault.c_str());
  return others.empty() && changed.empty() ? 0 : 2;
}

}  // namespace syncline

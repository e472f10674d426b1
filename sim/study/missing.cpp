#include "sim/study/missing.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <set>
#include <stdexcept>

#include "kernels/io/csv.h"
#include "sim/study/names.h"

namespace syncline {
namespace {

using ByOption = std::map<std::string, std::string>;

ByOption by_option(const CellOptions& options) {
  ByOption values;
  for (const WrittenOption& option : options)
    if (!option.value.empty())
      values[option.name] = option.value;
  return values;
}

}  // namespace

std::vector<CellOptions> cells_listed_in(const std::string& results_csv) {
  std::vector<CellOptions> cells;
  std::error_code error;
  if (!std::filesystem::exists(results_csv, error))
    return cells;
  Words options;  // the columns before simulated_as
  read_csv_lines(results_csv, CsvFields::quoted, [&](const CsvLine& line) {
    if (line.kind == CsvLine::Kind::columns) {
      const auto end = std::ranges::find(line.fields, "simulated_as");
      if (end == line.fields.end())
        throw std::invalid_argument("no column simulated_as: this is no table of run --out");
      options.assign(line.fields.begin(), end);
    } else if (line.kind == CsvLine::Kind::row) {
      if (line.fields.size() < options.size())
        throw std::invalid_argument("fewer fields than columns");
      CellOptions& cell = cells.emplace_back();
      for (std::size_t i = 0; i < options.size(); ++i)
        cell.push_back({.name = options[i], .value = line.fields[i]});
    }
  });
  return cells;
}

std::vector<CellOptions> without_result(const std::vector<CellOptions>& sweep,
                                        const Results& results) {
  std::set<ByOption> there;
  for (const Result& result : results)
    there.insert(by_option(result.options));
  std::vector<CellOptions> missing;
  for (const CellOptions& cell : sweep)
    if (!there.contains(by_option(cell)))
      missing.push_back(cell);
  return missing;
}

std::string missing_shown(const std::vector<CellOptions>& sweep, const Results& results) {
  constexpr std::size_t most_named = 3;
  const std::vector<CellOptions> missing = without_result(sweep, results);
  if (missing.empty())
    return "";
  std::map<std::string, std::set<std::string>> different;
  for (const CellOptions& cell : sweep)
    for (const auto& [option, value] : by_option(cell))
      different[option].insert(value);
  Words names;
  for (const CellOptions& cell : missing) {
    Words words;
    for (const auto& [option, value] : by_option(cell))
      if (different[option].size() > 1)
        words.push_back(short_setting(option, value));
    if (names.size() < most_named)
      names.push_back(fmt::format("{}", fmt::join(words, ", ")));
  }
  if (missing.size() > most_named)
    names.push_back(fmt::format("{} more", missing.size() - most_named));
  return fmt::format("{} of {} cells ({})", missing.size(), sweep.size(), fmt::join(names, "; "));
}

}  // namespace syncline

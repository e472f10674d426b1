#include "sim/commands/validation_folder.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <stdexcept>

#include "kernels/io/text.h"
#include "sim/catalogue/csv.h"
#include "sim/options/expand.h"
#include "sim/options/resolve.h"
#include "sim/options/user_input.h"
#include "sim/study/names.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

// All columns of measured.csv are options, except these.
bool is_option(const std::string& column) {
  return column != "measured" && column != "role" && column != "source" && column != "case";
}

// A row's name: its values in the columns in which rows differ, in words.
std::string named_by_columns(const Csv& csv, const Csv::Row& row) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < csv.columns.size(); ++i) {
    const std::string &column = csv.columns[i], &value = row.fields[i];
    const bool differs = std::ranges::any_of(
        csv.rows, [&](const Csv::Row& other) { return other.fields[i] != value; });
    if (differs && !value.empty() && (is_option(column) || column == "case"))
      parts.push_back(column == "case" ? value : said(column, value));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

ValidationFolder read_validation_folder(const std::string& path) {
  ValidationFolder folder{.path = path, .rows = {}, .cells = {}};
  const Csv csv = read_csv(folder.csv());
  const std::size_t measured = csv.column("measured");
  const std::size_t role = csv.column("role");
  csv.column("source");
  if (csv.rows.size() > most_cells)
    throw std::invalid_argument(csv.path + ": " + std::to_string(csv.rows.size()) +
                                " rows: allowed are up to " + std::to_string(most_cells));
  GivenOptions shared = parse_config_file(path + "/scenario.cfg");
  std::error_code error;
  if (fs::exists(path + "/platform.xml", error))
    shared.emplace("platform", Given{"platform.xml", path + "/scenario.cfg:1"});
  // Unless the folder says otherwise.
  shared.emplace("repeats", Given{"1", path + "/scenario.cfg:1"});
  for (const Csv::Row& row : csv.rows) {
    GivenOptions given = shared;
    ValidationRow result{.folder = path, .line = row.line};
    result.named = printable(named_by_columns(csv, row));
    for (std::size_t i = 0; i < csv.columns.size(); ++i) {
      const std::string& column = csv.columns[i];
      if (is_option(column) && !row.fields[i].empty())
        given[column] = {row.fields[i], csv.where(row)};
      if ((is_option(column) && !row.fields[i].empty()) || column == "case")
        result.label += (result.label.empty() ? "" : " ") + row.fields[i];
    }
    for (auto& entry : given)  // a row is one scenario: resolve() refuses a list
      if (const auto values = values_of(entry.second); values.size() == 1)
        entry.second.value = values.front();
    try {
      result.measured = checked_number({.name = "measured", .minimum = 1e-9, .maximum = 1e15},
                                       row.fields[measured]);
      result.fit =
          checked_word({.name = "role", .choices = {"fit", "report"}}, row.fields[role]) == "fit";
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(csv.where(row) + ": " + error.what());
    }
    folder.cells.push_back({resolve(given), "", ""});
    folder.rows.push_back(std::move(result));
  }
  if (std::ranges::none_of(folder.rows, [](const ValidationRow& row) { return !row.fit; }))
    throw std::invalid_argument(path + "/measured.csv: no row has role = report");
  return folder;
}

}  // namespace syncline

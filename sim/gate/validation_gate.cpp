#include "sim/gate/validation_gate.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "kernels/io/text.h"
#include "sim/catalogue/csv.h"
#include "sim/options/expand.h"
#include "sim/options/resolve.h"
#include "sim/study/names.h"
#include "sim/sweep/output_paths.h"

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
      parts.push_back(column == "case" ? value : short_setting(column, value));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

using Json = nlohmann::ordered_json;

constexpr std::size_t most_baseline_bytes = 20'000'000;

std::string last_part(const std::string& path) {
  return fs::path(title_of_folder(path)).filename().string();
}

[[noreturn]] void refuse_baseline(const std::string& path) {
  throw std::runtime_error(brief_path(path) +
                           ": no baseline: allowed is the document of an earlier validate");
}

// A verdict on one number, which must be at most `most` or at least `least`.
struct Bounded {
  std::string cell;
  std::string figure;
  double got = 0;
  std::optional<double> most, least;
  std::string shown;  // the number in words; empty: the number itself
  std::optional<double> before = {};

  Verdict verdict() const {
    const bool met = (!most || got <= *most) && (!least || got >= *least);
    const auto number = [&](double value) {
      return most ? fmt::format("{:.1f} %", 100 * value) : fmt::format("{:.3f}", value);
    };
    Verdict verdict{.kind = met ? Verdict::Kind::met : Verdict::Kind::moved,
                    .cell = cell,
                    .figure = figure,
                    .expected = most ? "at most " + number(*most) : "at least " + number(*least),
                    .now = shown.empty() ? number(got) : shown};
    verdict.cause.what =
        before ? "further off than the baseline" : figure + " is not " + verdict.expected;
    if (before && !met)
      verdict.why = {"the baseline has " + number(*before)};
    verdict.expected_value = before;
    verdict.got = got;
    verdict.at_most = most;
    verdict.at_least = least;
    return verdict;
  }
};

// Adds file and line, where GitHub shows the verdict.
Verdict at(Verdict verdict, const ValidationFolder& folder, int line = 0) {
  verdict.file = folder.csv();
  verdict.line = line;
  return verdict;
}

Verdict verdict_on_worst(const ValidationFolder& folder, const std::string& cell, double most) {
  const ValidationRow& worst = *worst_of(folder.rows);
  const auto beyond = std::ranges::count_if(folder.rows, [&](const ValidationRow& row) {
    return !row.fit && std::abs(row.error()) > most;
  });
  std::string now = fmt::format("{:.1f} % of row {}", 100 * worst.error(), worst.label);
  if (beyond > 1)
    now += fmt::format(", and {} more rows", beyond - 1);
  return at(Bounded{cell, "worst error", std::abs(worst.error()), most, {}, now}.verdict(), folder,
            worst.line);
}

std::vector<ValidationRow> rows_in_folder(const std::vector<ValidationRow>& rows,
                                          const std::string& folder) {
  std::vector<ValidationRow> own;
  std::ranges::copy_if(rows, std::back_inserter(own),
                       [&](const ValidationRow& row) { return row.folder == folder; });
  return own;
}

Verdict not_there(const std::string& cell, const std::string& figure, const std::string& expected,
                  const std::string& now, const std::string& why) {
  Verdict verdict{.kind = Verdict::Kind::moved,
                  .cell = cell,
                  .figure = figure,
                  .expected = expected,
                  .now = now,
                  .why = {why}};
  verdict.cause.what = why;
  return verdict;
}

// Judges each row by the baseline's row of the same name; rows with equal names in their order.
void judge_rows(const ValidationFolder& folder, const ValidationGate& gate,
                std::vector<Verdict>& verdicts) {
  const std::string name = name_of(folder);
  std::vector<ValidationRow> before = rows_in_folder(gate.baseline, name);
  for (const ValidationRow& row : folder.rows) {
    if (row.fit)
      continue;
    const auto old = std::ranges::find(before, row.label, &ValidationRow::label);
    if (old == before.end()) {
      verdicts.push_back(
          at(not_there(name, row.label, "no such row", "there", "rows that the baseline lacks"),
             folder, row.line));
      continue;
    }
    const double error = std::abs(old->error());
    verdicts.push_back(at(Bounded{name,
                                  row.label,
                                  std::abs(row.error()),
                                  error + gate.worse_by,
                                  {},
                                  fmt::format("{:+.1f} %", 100 * row.error()),
                                  error}
                              .verdict(),
                          folder, row.line));
    before.erase(old);
  }
  for (const ValidationRow& row : before)
    verdicts.push_back(
        at(not_there(name, row.label, "a row", "missing", "rows of the baseline that are gone"),
           folder));
}

Verdict verdict_on_median(const std::string& name, const std::vector<ValidationRow>& rows,
                          const std::vector<ValidationRow>& before, const ValidationGate& gate) {
  const double error = agreement(before).median_error;
  return Bounded{name, "median error", agreement(rows).median_error, error + gate.worse_by, {},
                 "",   error}
      .verdict();
}

void judge_baseline(const std::vector<ValidationFolder>& folders, const ValidationGate& gate,
                    std::vector<Verdict>& verdicts) {
  std::vector<ValidationRow> all;
  std::vector<std::string> names;
  for (const ValidationFolder& folder : folders) {
    names.push_back(name_of(folder));
    all.insert(all.end(), folder.rows.begin(), folder.rows.end());
    judge_rows(folder, gate, verdicts);
    if (const auto before = rows_in_folder(gate.baseline, names.back()); !before.empty())
      verdicts.push_back(at(verdict_on_median(names.back(), folder.rows, before, gate), folder));
  }
  verdicts.push_back(verdict_on_median("all folders", all, gate.baseline, gate));
  std::vector<std::string> gone;
  for (const ValidationRow& row : gate.baseline)
    if (std::ranges::find(names, row.folder) == names.end() &&
        std::ranges::find(gone, row.folder) == gone.end()) {
      gone.push_back(row.folder);
      verdicts.push_back(not_there(row.folder, "", "a folder", "missing",
                                   "folders of the baseline that are not validated"));
    }
}

// Options that replace those of rows.
GivenOptions instead_of_rows(const std::string& path, ValidationNumbers numbers) {
  if (numbers == ValidationNumbers::fitted)
    return {};
  GivenOptions nominal = parse_config_file(path + "/nominal.cfg");
  std::error_code error;
  const std::string file = path + "/typical.cfg";
  if (numbers == ValidationNumbers::nominal || !fs::exists(file, error))
    return nominal;
  GivenOptions typical = parse_config_file(file);
  typical.merge(nominal);
  return typical;
}

}  // namespace

ValidationFolder read_validation_folder(const std::string& path, ValidationNumbers numbers) {
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
  const GivenOptions instead = instead_of_rows(path, numbers);
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
    for (const auto& [option, value] : instead)
      given[option] = value;
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

std::vector<ValidationRow> read_baseline(const std::string& path) {
  const Json document = Json::parse(text_of_file(path, most_baseline_bytes), nullptr, false);
  const auto has = [](const Json& json, const char* name) {
    return json.is_object() && json.contains(name);
  };
  if (!has(document, "folders") || !document["folders"].is_array())
    refuse_baseline(path);
  if (has(document, "missing") && !document["missing"].empty())
    throw std::runtime_error(brief_path(path) +
                             ": rows are missing, because validate was "
                             "interrupted: allowed is the document of one that ended");
  std::vector<ValidationRow> baseline;
  for (const Json& folder : document["folders"]) {
    if (!has(folder, "folder") || !folder["folder"].is_string() || !has(folder, "rows") ||
        !folder["rows"].is_array())
      refuse_baseline(path);
    for (const Json& row : folder["rows"]) {
      if (!has(row, "row") || !row["row"].is_string() || !has(row, "role") || !has(row, "error") ||
          !row["error"].is_number())
        refuse_baseline(path);
      if (row["role"] == "report")
        baseline.push_back({.folder = last_part(folder["folder"].get<std::string>()),
                            .label = printable(row["row"].get<std::string>()),
                            .measured = 1,
                            .simulated = 1 + row["error"].get<double>(),
                            .perfect = 1});
    }
  }
  if (baseline.empty())
    refuse_baseline(path);
  return baseline;
}

std::string name_of(const ValidationFolder& folder) {
  return last_part(folder.path);
}

ValidationGate validation_gate(const CommandLine& line) {
  ValidationGate gate{.max_error = line.number("max-error", {.minimum = 0, .maximum = 1e6}),
                      .max_median = line.number("max-median", {.minimum = 0, .maximum = 1e6}),
                      .min_tau = line.number("min-tau", {.minimum = -1, .maximum = 1}),
                      .baseline = {}};
  if (const auto path = line.flag("baseline"))
    gate.baseline = read_baseline(*path);
  if (const auto worse_by = line.number("worse-by", {.minimum = 0, .maximum = 1e6})) {
    if (gate.baseline.empty())
      throw std::invalid_argument("--worse-by without --baseline FILE: allowed are both");
    gate.worse_by = *worse_by;
  }
  return gate;
}

std::vector<Verdict> judge(const std::vector<ValidationFolder>& folders,
                           const ValidationGate& gate) {
  std::vector<Verdict> verdicts;
  std::vector<ValidationRow> all;
  for (const ValidationFolder& folder : folders) {
    const std::string cell = title_of_folder(folder.path);
    all.insert(all.end(), folder.rows.begin(), folder.rows.end());
    const Agreement figures = agreement(folder.rows);
    if (gate.max_error)
      verdicts.push_back(verdict_on_worst(folder, cell, *gate.max_error));
    if (gate.max_median)
      verdicts.push_back(
          at(Bounded{cell, "median error", figures.median_error, gate.max_median, {}, ""}.verdict(),
             folder));
    if (gate.min_tau && figures.rows > 1)  // a single row has no order
      verdicts.push_back(
          at(Bounded{cell, "Kendall's tau", figures.tau, {}, gate.min_tau, ""}.verdict(), folder));
  }
  if (gate.max_median && folders.size() > 1)
    verdicts.push_back(
        Bounded{"all folders", "median error", agreement(all).median_error, gate.max_median, {}, ""}
            .verdict());
  if (!gate.baseline.empty())
    judge_baseline(folders, gate, verdicts);
  return verdicts;
}

}  // namespace syncline

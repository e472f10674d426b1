#include "sim/gate/compared_base.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "kernels/io/text.h"
#include "sim/gate/bless.h"
#include "sim/gate/git.h"
#include "sim/report/result_json.h"
#include "sim/sweep/output_paths.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t most_bytes_of_a_result = 20'000'000;
constexpr const char* name_without_lists = "result";  // as `run` names a cell that is in no sweep

std::string joined(const std::string& stem, const std::string& rest) {
  return stem.empty() ? rest : rest == name_without_lists ? stem : stem + "/" + rest;
}

// The cell whose result this is: "ring/workers-8" for DIR/ring/workers-8.json; for
// DIR/workers-8.json the only cell with that name in any of the folder's files.
std::optional<std::string> cell_called(const std::string& stem, const std::string& rest,
                                       const CheckFolder& folder) {
  const std::string whole = joined(stem, rest);
  std::vector<std::string> found;
  for (const CheckedCell& cell : folder.cells)
    if (cell.name == whole || (stem.empty() && cell.name.ends_with("/" + rest)) ||
        (stem.empty() && rest == name_without_lists && folder.cells.size() == 1))
      found.push_back(cell.name);
  return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
}

// Adds the results in a folder to the cells of `base`; `stem` is the folder's name if it is one of
// several. Returns the number of results of other cells.
int add_results(const std::string& path, const std::string& stem, const CheckFolder& folder,
                CheckFolder& base) {
  int others = 0;
  for (const fs::path& entry : entries_of(path)) {
    std::error_code error;
    if (entry.extension() != ".json" || fs::file_size(entry, error) > most_bytes_of_a_result)
      continue;
    auto result = read_result(entry.string());
    if (!result)
      continue;
    const auto cell = cell_called(stem, printable(entry.stem().string()), folder);
    if (!cell) {
      ++others;
      continue;
    }
    Notes notes = notes_of(*result, {{"input_files", result->inputs}});
    base.cells.push_back({.name = *cell, .result = std::move(*result), .notes = std::move(notes)});
  }
  return others;
}

// The results as expected.csv would have them after blessing.
CheckBase base_of_results(const std::string& path, const CheckFolder& folder) {
  CheckFolder base{.path = path};
  int others = add_results(path, "", folder, base);
  for (const fs::path& entry : entries_of(path))
    if (fs::is_directory(entry))
      others += add_results(entry.string(), printable(entry.filename().string()), folder, base);
  if (base.cells.empty())
    throw std::runtime_error(
        brief_path(path) +
        fmt::format(": no expected.csv, and no result of a cell of {}{}: allowed is a folder with "
                    "one of them",
                    brief_path(folder.path),
                    others > 0 ? fmt::format(" ({} of other cells)", others) : ""));
  return {.title = printable(path),
          .expected = blessed(base, "").file,
          .is_of_results = true,
          .note = others == 0 ? "" : fmt::format("{} results belong to no cell here", others)};
}

// The expectation of a row in words, as in a verdict; empty without a row.
std::string words_of(const Expectation* row) {
  return row == nullptr ? ""
                        : judge(*row, {}, {}).expected + (row->only_warns ? ", only warns" : "");
}

// Whether the row now allows a value that it did not allow before.
bool is_looser(const Expectation& before, const Expectation& now) {
  const auto less = [](const std::optional<double>& old, const std::optional<double>& own) {
    return old && (!own || *own < *old);
  };
  const auto more = [](const std::optional<double>& old, const std::optional<double>& own) {
    return old && (!own || *own > *old);
  };
  return more(before.tolerance, now.tolerance) || less(before.at_least, now.at_least) ||
         more(before.at_most, now.at_most) || (now.only_warns && !before.only_warns) ||
         (now.only_worse && !before.only_worse);
}

std::optional<double> change_of(const Expectation& before, const Expectation& now) {
  const auto old = before.tolerance ? number_in(before.expected) : std::nullopt;
  const auto own = now.tolerance ? number_in(now.expected) : std::nullopt;
  return old && own && *old != 0 && *old != *own ? std::optional(*own / *old - 1) : std::nullopt;
}

bool is_same(const Expectation& a, const Expectation& b) {
  const auto expects = [](const Expectation& row) {
    return std::tie(row.expected, row.tolerance, row.at_least, row.at_most, row.only_warns,
                    row.only_worse);
  };
  return expects(a) == expects(b);
}

// What became of a row; a null pointer is a row that was not there, or is gone.
Replaced replaced_by(const Expectation* old, const Expectation* own) {
  const Expectation& row = own == nullptr ? *old : *own;
  const bool renewed = old != nullptr && own != nullptr;
  return {.kind = renewed          ? Replaced::Kind::renewed
                  : old == nullptr ? Replaced::Kind::added
                                   : Replaced::Kind::removed,
          .cell = row.cell,
          .figure = row.figure,
          .before = words_of(old),
          .now = words_of(own),
          .because = own == nullptr ? "" : own->because,
          .change = renewed ? change_of(*old, *own) : std::nullopt,
          .looser = old != nullptr && (!renewed || is_looser(*old, *own))};
}

// The judged rows, by cell and figure.
using JudgedRows = std::map<std::pair<std::string, std::string>, const Expectation*>;

JudgedRows judged_in(const std::vector<Expectation>& rows) {
  JudgedRows judged;
  for (const Expectation& row : rows)
    if (row.is_judged())
      judged.emplace(std::pair(row.cell, row.figure), &row);
  return judged;
}

}  // namespace

CheckBase read_base(const std::string& given, const CheckFolder& folder) {
  if (given.empty())
    throw std::invalid_argument("--against is empty: allowed are a commit and a folder");
  std::error_code error;
  if (fs::is_directory(given, error)) {
    const std::string csv = given + "/expected.csv";
    return fs::exists(csv, error)
               ? CheckBase{.title = printable(given), .expected = read_expected(csv)}
               : base_of_results(given, folder);
  }
  const std::string commit = commit_named(given, folder.path);
  CheckBase base{.title = fmt::format("{} ({})", printable(given), commit.substr(0, 12))};
  if (const auto text = text_at(commit, folder.path, "expected.csv"))
    base.expected = expected_in(*text, base.title + ":expected.csv");
  else
    base.note = "the commit has no expected.csv of this folder: all cells are new";
  return base;
}

std::vector<Replaced> replaced_between(const std::vector<Expectation>& before,
                                       const std::vector<Expectation>& now) {
  const JudgedRows rows_before = judged_in(before), rows_now = judged_in(now);
  std::vector<Replaced> all;
  for (const Expectation& row : now)
    if (row.is_judged()) {
      const auto old = rows_before.find({row.cell, row.figure});
      if (old == rows_before.end())
        all.push_back(replaced_by(nullptr, &row));
      else if (!is_same(*old->second, row))
        all.push_back(replaced_by(old->second, &row));
    }
  for (const Expectation& row : before)
    if (row.is_judged() && !rows_now.contains({row.cell, row.figure}))
      all.push_back(replaced_by(&row, nullptr));
  return all;
}

BaseComparison compared_with(const CheckBase& base, const CheckFolder& folder) {
  CheckFolder judged{.path = folder.path, .cells = folder.cells};
  if (base.is_of_results)
    for (CheckedCell& cell : judged.cells)
      cell.notes["input_files"] = cell.result.inputs;
  ExpectedFile expected;  // of figures only: bounds are the gate's
  for (Expectation row : base.expected.rows) {
    row.at_least.reset();
    row.at_most.reset();
    row.because.clear();
    expected.rows.push_back(row);
  }
  BaseComparison against{.base = base.title, .note = base.note};
  if (!base.expected.rows.empty())
    against.verdicts = judge(judged, expected);
  // Rows with bounds alone are the gate's.
  std::erase_if(against.verdicts, [](const Verdict& verdict) {
    return verdict.cause.kind == Cause::Kind::only_notes;
  });
  for (Verdict& verdict : against.verdicts)
    if (verdict.cause.kind == Cause::Kind::no_row) {
      verdict.cause.what = "new cells";
      verdict.why = {"the base has no such cell"};
    }
  if (!base.is_of_results)
    against.replaced = replaced_between(base.expected.rows, folder.expected.rows);
  against.expects_the_same =
      !base.is_of_results && expected_text(base.expected) == expected_text(folder.expected);
  return against;
}

}  // namespace syncline

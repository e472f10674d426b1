#include "sim/commands/base.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <stdexcept>

#include "kernels/io/text.h"
#include "sim/commands/bless.h"
#include "sim/commands/files.h"
#include "sim/report/result_json.h"
#include "sim/sweep/git.h"

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
  std::vector<fs::path> entries = entries_of(path);
  std::ranges::sort(entries);
  for (const fs::path& entry : entries) {
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
  std::vector<fs::path> entries = entries_of(path);
  std::ranges::sort(entries);
  for (const fs::path& entry : entries)
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

BaseComparison compared(const CheckBase& base, const CheckFolder& folder) {
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

#include "sim/gate/expectation.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <stdexcept>
#include <utility>

#include "kernels/io/csv.h"
#include "kernels/io/text.h"
#include "kernels/registry.h"
#include "sim/report/learning.h"
#include "sim/report/readable.h"
#include "sim/report/result_json.h"
#include "sim/study/ordered_lists.h"
#include "sim/study/pooled.h"

namespace syncline {
namespace {

constexpr double rounding_of_notes = 1e-6;

// Whether a figure is as expected, and the expectation in words.
struct ExpectationCheck {
  bool met = false;
  bool in_bounds = false;
  std::string words;
};

bool keeps_bounds(const Expectation& row, double value) {
  return (!row.at_least || value >= *row.at_least) && (!row.at_most || value <= *row.at_most);
}

ExpectationCheck tried(const Expectation& row, std::optional<double> figure) {
  const double got = figure.value_or(0);
  bool near = true;
  std::vector<std::string> words;
  if (row.tolerance) {
    const double expected = number_in(row.expected).value_or(0);
    const double by = expected == 0 ? got : got / expected - 1;
    const auto more = more_is_worse(row.figure);
    const bool better = row.only_worse && more && (by > 0) != *more;
    near = std::abs(by) <= *row.tolerance || better;
    const std::string sign = !row.only_worse ? "+-" : *more ? "+" : "-";
    words.push_back(expected == 0
                        ? fmt::format("0 {} {:.3g}", sign, *row.tolerance)
                        : fmt::format("{:.6g} {} {:.3g} %", expected, sign, 100 * *row.tolerance));
  }
  if (row.at_least)
    words.push_back(fmt::format("at least {:.6g}", *row.at_least));
  if (row.at_most)
    words.push_back(fmt::format("at most {:.6g}", *row.at_most));
  const bool in_bounds = keeps_bounds(row, got);
  return {figure && near && in_bounds, in_bounds, fmt::format("{}", fmt::join(words, ", "))};
}

// The figure when the notes were taken.
std::optional<double> value_before(const Expectation& row, const Notes& before) {
  return row.tolerance ? number_in(row.expected) : noted_number(before, row.figure);
}

const std::vector<std::string> columns{"cell",    "figure",  "expected", "tolerance", "at_least",
                                       "at_most", "because", "severity", "direction"};
// The columns that are always written; the others only if a row has a value for them.
constexpr std::size_t columns_always = 7;

void require_known(const Expectation& row) {
  const std::vector<std::string> figures = judged_figures();
  const bool is_figure = is_among(row.figure, figures);
  if (!is_figure && !is_among(row.figure, noted_inputs))
    throw std::invalid_argument("no figure '" + brief(row.figure) + "': allowed are " +
                                listed(figures));
  if (row.is_judged() && !is_figure)
    throw std::invalid_argument(
        row.figure + " is only a note: allowed are notes without tolerance, at_least and at_most");
  if (row.expected.empty() && !row.is_judged())
    throw std::invalid_argument(row.cell + ", " + row.figure +
                                ": nothing is expected: allowed are expected with tolerance, "
                                "at_least or at_most");
  if (row.tolerance && row.expected.empty())
    throw std::invalid_argument("tolerance without expected: allowed are both");
  if (row.at_least && row.at_most && *row.at_least > *row.at_most)
    throw std::invalid_argument("at_least must not exceed at_most");
  if (row.only_worse && !row.tolerance)
    throw std::invalid_argument("direction = worse without tolerance: allowed are both");
  if (row.only_worse && !more_is_worse(row.figure))
    throw std::invalid_argument("direction = worse: neither more nor less " + row.figure +
                                " is worse: allowed is no direction");
}

Expectation row_of(const std::vector<std::string>& names, const std::vector<std::string>& fields) {
  if (fields.size() != names.size())
    throw std::invalid_argument(std::to_string(fields.size()) + " fields, but the columns are " +
                                listed(names));
  Expectation row;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    const std::string& text = fields[i];
    const auto number = [&](double minimum, double maximum) {
      return checked_number({.name = name, .minimum = minimum, .maximum = maximum}, text);
    };
    if (name == "cell")
      row.cell = text;
    else if (name == "figure")
      row.figure = text;
    else if (name == "expected")
      row.expected = text;
    else if (name == "because")
      row.because = text;
    else if (text.empty())
      continue;
    else if (name == "severity")
      row.only_warns = checked_word({.name = name, .choices = {"fail", "warn"}}, text) == "warn";
    else if (name == "direction")
      row.only_worse = checked_word({.name = name, .choices = {"both", "worse"}}, text) == "worse";
    else if (name == "tolerance")
      row.tolerance = number(0, 10);
    else
      (name == "at_least" ? row.at_least : row.at_most) = number(-1e18, 1e18);
  }
  if (row.cell.empty())
    throw std::invalid_argument("no cell: allowed is the name of a .cfg file without .cfg");
  require_known(row);
  if (row.tolerance)
    checked_number({.name = "expected", .minimum = -1e18, .maximum = 1e18}, row.expected);
  return row;
}

void require_columns(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (!is_among(name, columns) || std::ranges::count(names, name) > 1)
      throw std::invalid_argument("column '" + brief(name) + "': allowed are, once each, " +
                                  listed(columns));
  for (const std::string needed : {"cell", "figure"})
    if (!is_among(needed, names))
      throw std::invalid_argument("no column '" + needed + "': allowed are " + listed(columns));
}

}  // namespace

std::vector<std::string> judged_figures() {
  std::vector<std::string> names;
  for (const Figure& figure : figure_rows())
    if (figure.is_number())
      names.push_back(figure.name);
  return names;
}

double moved_by_seeds(const Result& result) {
  // Each of two means is as far from the truth as intervals say, so they differ by twice that in
  // one case of 200. With few runs the interval itself is known to about a third only.
  const double widths = result.figures.runs > 1 ? 3 : 2;
  return result.figures.runs > 1 || is_of_chance(result)
             ? widths * result.figures.throughput_interval.value_or(0)
             : 0;
}

Verdict judge(const Expectation& row, const Result& result, const CellNotes& notes) {
  Verdict verdict{.cell = row.cell, .figure = row.figure};
  verdict.got = value_of(row.figure, result);
  verdict.expected_value = row.expected.empty() ? std::nullopt : number_in(row.expected);
  verdict.tolerance = row.tolerance;
  verdict.at_least = row.at_least;
  verdict.at_most = row.at_most;
  verdict.line = row.line;
  const ExpectationCheck trial = tried(row, verdict.got);
  verdict.expected = trial.words;
  verdict.now = verdict.got ? fmt::format("{:.6g}", *verdict.got) : why_unknown(result, row.figure);
  if (row.tolerance && verdict.got && verdict.expected_value == 0.0 && *verdict.got != 0)
    verdict.now += ", not 0";
  if (const auto by = verdict.change(); row.tolerance && by && std::abs(*by) > 1e-12)
    verdict.now += ", " + part_shown(*by);
  if (trial.met) {
    verdict.cause = changes_between(notes);
    return verdict;
  }
  verdict.kind = row.only_warns ? Verdict::Kind::warned : Verdict::Kind::moved;
  verdict.not_yet = verdict.kind == Verdict::Kind::moved && !notes.before.contains("options") &&
                    !row.tolerance;  // never blessed
  if (!row.because.empty())
    verdict.why.push_back((trial.in_bounds ? "reason for the expected figure: " : "") +
                          row.because);
  const std::optional<double> before = value_before(row, notes.before);
  const bool never_met = !trial.in_bounds && before && !keeps_bounds(row, *before);
  std::optional<bool> moved;
  if (never_met || trial.in_bounds)
    moved = !never_met;
  else if (before && verdict.got)
    moved = std::abs(*verdict.got - *before) > rounding_of_notes * std::abs(*before);
  Explanation explanation =
      explanation_of({.figure = row.figure,
                      .moved = moved,
                      .change = verdict.change(),
                      .by_seeds = moved_by_seeds(result),
                      .by_any_cause = !result.figures.staleness_histogram.empty()},
                     notes);
  verdict.cause = std::move(explanation.cause);
  if (never_met) {
    verdict.why.push_back(
        fmt::format("this bound was not met before, either: {:.6g} then", *before));
    if (verdict.cause.changed.empty())
      verdict.cause.what = "a bound that was not met before, either";
  }
  verdict.why.insert(verdict.why.end(), explanation.sentences.begin(), explanation.sentences.end());
  if (explanation.sentences.empty())
    verdict.why.push_back("now: " + result.figures.bottleneck);
  return verdict;
}

std::string text_of_expected(const std::string& path) {
  constexpr std::size_t most_bytes = 10'000'000;  // the limit of read_lines
  return text_of_file(path, most_bytes);
}

ExpectedFile read_expected(const std::string& path) {
  return expected_in(text_of_expected(path), path);
}

ExpectedFile expected_in(const std::string& text, const std::string& path) {
  ExpectedFile file;
  std::vector<std::string> names;
  std::vector<std::string> comments;  // those above the next row
  std::set<std::pair<std::string, std::string>> seen;
  read_csv_text(text, path, CsvFields::quoted, [&](const CsvLine& line) {
    if (line.kind == CsvLine::Kind::header) {
      file.comments.push_back(printable(line.text));
    } else if (line.kind == CsvLine::Kind::comment) {
      comments.push_back(printable(line.text));
    } else if (line.kind == CsvLine::Kind::row) {
      Expectation& row = file.rows.emplace_back(row_of(names, line.fields));
      row.line = line.number;
      row.comments.swap(comments);
      if (!seen.emplace(row.cell, row.figure).second)
        throw std::invalid_argument("a second row for " + row.cell + ", " + row.figure +
                                    ": allowed is one");
    } else {
      require_columns(line.fields);
      names = line.fields;
    }
  });
  if (names.empty())
    throw std::runtime_error(path + ": no line with column names: allowed are " + listed(columns));
  file.comments_at_end = comments;
  return file;
}

std::string first_field(const std::string& value) {
  const std::string field = csv_field(value);
  return field.starts_with("#") ? "\"" + field + "\"" : field;
}

std::string expected_text(const ExpectedFile& file) {
  const auto warns = [](const Expectation& row) { return row.only_warns; };
  const auto directed = [](const Expectation& row) { return row.only_worse; };
  std::vector<std::string> names(columns.begin(), columns.begin() + columns_always);
  const bool has_severity = std::ranges::any_of(file.rows, warns);
  const bool has_direction = std::ranges::any_of(file.rows, directed);
  if (has_severity)
    names.emplace_back("severity");
  if (has_direction)
    names.emplace_back("direction");
  const auto number = [](const std::optional<double>& value) {
    return value ? exact_text(*value) : std::string();
  };
  const auto lines = [](const std::vector<std::string>& comments) {
    return fmt::format("{}{}", fmt::join(comments, "\n"), comments.empty() ? "" : "\n");
  };
  std::string text = lines(file.comments) + fmt::format("{}\n", fmt::join(names, ","));
  for (const Expectation& row : file.rows) {
    text += lines(row.comments);
    text += first_field(row.cell) + "," + row.figure + "," + csv_field(row.expected) + "," +
            number(row.tolerance) + "," + number(row.at_least) + "," + number(row.at_most) + "," +
            csv_field(row.because);
    if (has_severity)
      text += row.only_warns ? ",warn" : ",";
    if (has_direction)
      text += row.only_worse ? ",worse" : ",";
    text += "\n";
  }
  return text + lines(file.comments_at_end);
}

}  // namespace syncline

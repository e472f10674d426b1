#include "sim/commands/expected_csv.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <set>
#include <stdexcept>
#include <utility>

#include "kernels/io/csv.h"
#include "kernels/io/text.h"
#include "kernels/registry.h"
#include "sim/report/readable.h"
#include "sim/report/result_json.h"
#include "sim/study/lists.h"
#include "sim/study/verdict_groups.h"

namespace syncline {
namespace {

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

// Collects the lines of an expected.csv.
class ExpectedReader {
 public:
  explicit ExpectedReader(const std::string& path) : path_(path) {}

  void operator()(const CsvLine& line) {
    if (line.kind == CsvLine::Kind::header) {
      file_.comments.push_back(printable(line.text));
    } else if (line.kind == CsvLine::Kind::comment) {
      comments_.push_back(printable(line.text));
    } else if (line.kind == CsvLine::Kind::row) {
      file_.rows.push_back(row_of(names_, line.fields));
      Expectation& row = file_.rows.back();
      row.line = line.number;
      row.comments.swap(comments_);
      if (!seen_.emplace(row.cell, row.figure).second)
        throw std::invalid_argument("a second row for " + row.cell + ", " + row.figure +
                                    ": allowed is one");
    } else {
      read_names(line.fields);
    }
  }

  ExpectedFile file() {
    if (names_.empty())
      throw std::runtime_error(path_ + ": no line with column names: allowed are " +
                               listed(columns));
    file_.comments_at_end = comments_;
    return std::move(file_);
  }

 private:
  void read_names(const std::vector<std::string>& names) {
    for (const std::string& name : names)
      if (!is_among(name, columns) || std::ranges::count(names, name) > 1)
        throw std::invalid_argument("column '" + brief(name) + "': allowed are, once each, " +
                                    listed(columns));
    for (const std::string needed : {"cell", "figure"})
      if (!is_among(needed, names))
        throw std::invalid_argument("no column '" + needed + "': allowed are " + listed(columns));
    names_ = names;
  }

  std::string path_;
  ExpectedFile file_;
  std::vector<std::string> names_;
  std::vector<std::string> comments_;  // those above the next row
  std::set<std::pair<std::string, std::string>> seen_;
};

}  // namespace

std::string text_of_expected(const std::string& path) {
  constexpr std::size_t most_bytes = 10'000'000;  // the limit of read_lines
  return text_of_file(path, most_bytes);
}

ExpectedFile read_expected(const std::string& path) {
  return expected_in(text_of_expected(path), path);
}

ExpectedFile expected_in(const std::string& text, const std::string& path) {
  ExpectedReader reader(path);
  read_csv_text(text, path, CsvFields::quoted, std::ref(reader));
  return reader.file();
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

#include "sim/commands/expected_csv.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "kernels/io/csv.h"
#include "kernels/io/text.h"
#include "kernels/registry.h"
#include "sim/report/readable.h"
#include "sim/report/result_json.h"
#include "sim/study/lists.h"

namespace syncline {
namespace {

const std::vector<std::string> columns{"cell",     "figure",  "expected", "tolerance",
                                       "at_least", "at_most", "because"};

void require_known(const Expectation& row) {
  const std::vector<std::string> figures = judged_figures();
  const bool is_figure = is_among(row.figure, figures);
  if (!is_figure && !is_among(row.figure, noted_inputs))
    throw std::invalid_argument("no figure '" + brief(row.figure) + "': allowed are " +
                                listed(figures));
  if (row.is_judged() && !is_figure)
    throw std::invalid_argument(row.figure +
                                " is only a note: allowed is it without tolerance, "
                                "at_least and at_most");
  if (row.expected.empty() && !row.is_judged())
    throw std::invalid_argument(row.cell + ", " + row.figure +
                                ": nothing is expected: allowed are expected with tolerance, "
                                "at_least or at_most");
  if (row.tolerance && row.expected.empty())
    throw std::invalid_argument("tolerance without expected: allowed are both");
  if (row.at_least && row.at_most && *row.at_least > *row.at_most)
    throw std::invalid_argument("at_least is more than at_most: nothing could be between them");
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

}  // namespace

ExpectedFile read_expected(const std::string& path) {
  ExpectedFile file;
  std::vector<std::string> names;
  std::set<std::pair<std::string, std::string>> seen;
  read_csv_lines(path, CsvFields::quoted, [&](const CsvLine& line) {
    const std::vector<std::string>& fields = line.fields;
    if (line.kind == CsvLine::Kind::header) {
      file.comments.push_back(printable(line.text));
    } else if (line.kind == CsvLine::Kind::row) {
      file.rows.push_back(row_of(names, fields));
      const Expectation& row = file.rows.back();
      if (!seen.emplace(row.cell, row.figure).second)
        throw std::invalid_argument("a second row for " + row.cell + ", " + row.figure +
                                    ": allowed is one");
    } else if (line.kind == CsvLine::Kind::columns) {
      for (const std::string& name : fields)
        if (!is_among(name, columns) || std::ranges::count(fields, name) > 1)
          throw std::invalid_argument("column '" + brief(name) + "': allowed are, once each, " +
                                      listed(columns));
      for (const std::string needed : {"cell", "figure"})
        if (!is_among(needed, fields))
          throw std::invalid_argument("no column '" + needed + "': allowed are " + listed(columns));
      names = fields;
    }
  });
  if (names.empty())
    throw std::runtime_error(path + ": no line with column names: allowed are " + listed(columns));
  return file;
}

std::string expected_text(const ExpectedFile& file) {
  std::string text;
  for (const std::string& comment : file.comments)
    text += comment + "\n";
  for (const std::string& column : columns)
    text += column + (column == columns.back() ? "\n" : ",");
  const auto number = [](const std::optional<double>& value) {
    return value ? exact_text(*value) : std::string();
  };
  const auto cell = [](const std::string& name) {  // in quotes a # begins no comment
    const std::string field = csv_field(name);
    return field.starts_with("#") ? "\"" + field + "\"" : field;
  };
  for (const Expectation& row : file.rows)
    text += cell(row.cell) + "," + row.figure + "," + csv_field(row.expected) + "," +
            number(row.tolerance) + "," + number(row.at_least) + "," + number(row.at_most) + "," +
            csv_field(row.because) + "\n";
  return text;
}

}  // namespace syncline

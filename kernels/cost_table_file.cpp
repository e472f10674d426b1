// Reads cost tables, strictly, and writes them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <sstream>

#include "kernels/cost_table.h"
#include "kernels/io/csv.h"
#include "kernels/io/text.h"
#include "kernels/io/whole_file.h"

namespace syncline {
namespace {

const std::string columns =
    "compressor,parameters,operation,elements,seconds,p10,p90,wire_bytes,distribution";

constexpr std::size_t most_word_bytes = 1000;

double parsed(const std::string& column, const std::string& text, double minimum, double maximum) {
  const double number = number_in(text).value_or(std::numeric_limits<double>::quiet_NaN());
  if (!std::isfinite(number) || number < minimum || number > maximum)
    throw std::invalid_argument(column + " = '" + brief(text) + "': allowed are numbers from " +
                                number_text(minimum) + " to " + number_text(maximum));
  return number;
}

// Simulations ask for no variants other than further_operation; tables may hold more for readers.
bool is_operation(const std::string& text) {
  const std::string known = text.substr(0, text.find('-'));
  return (known == "encode" || known == "decode") && !text.ends_with('-');
}

// Checks the settings that a row names: each once, with a value that the compressor accepts. Rows
// of unknown compressors (of other versions) are not checked.
void check_settings(const std::string& name, const std::string& options) {
  const auto compressor = Registered<Compressor>::all().find(name);
  if (compressor == Registered<Compressor>::all().end())
    return;
  const std::vector<OwnOption>& known = compressor->second.options;
  std::istringstream words(options);
  std::set<std::string> seen;
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    const OwnOption* option = option_named(known, word.substr(0, equals));
    if (equals == std::string::npos || option == nullptr) {
      std::vector<std::string> names;
      for (const OwnOption& one : known)
        names.push_back(one.name + "=...");
      throw std::invalid_argument("parameters = '" + brief(word) + "': allowed for " + name +
                                  " are " + (names.empty() ? "none" : listed(names)));
    }
    if (!seen.insert(option->name).second)
      throw std::invalid_argument("parameters: a second " + option->name + ": only one is allowed");
    Settings({*option}, {{option->name, word.substr(equals + 1)}});
  }
}

CostRow parsed_row(const std::vector<std::string>& cells, const std::vector<std::string>& names) {
  if (cells.size() != names.size())
    throw std::invalid_argument(std::to_string(cells.size()) + " columns instead of the 9 of " +
                                columns);
  for (const std::size_t column : {0u, 2u, 8u})
    if (cells[column].empty())
      throw std::invalid_argument(names[column] + " is empty");
  for (const std::size_t column : {0u, 1u, 2u, 8u})
    if (cells[column].size() > most_word_bytes)
      throw std::invalid_argument(names[column] + " = '" + brief(cells[column]) +
                                  "': allowed are up to " + std::to_string(most_word_bytes) +
                                  " bytes");
  if (!is_operation(cells[2]))
    throw std::invalid_argument("operation '" + brief(cells[2]) +
                                "': allowed are encode, decode, or a variant of either, such as "
                                "encode-as-published");
  check_settings(cells[0], cells[1]);
  constexpr double most_elements = 1e12, longest_s = 1e6, most_bytes = 1e15;
  return {printable(cells[0]),
          printable(cells[1]),
          printable(cells[2]),
          parsed("elements", cells[3], 1, most_elements),
          parsed("seconds", cells[4], 1e-12, longest_s),
          parsed("p10", cells[5], 0, longest_s),
          parsed("p90", cells[6], 0, longest_s),
          parsed("wire_bytes", cells[7], 0, most_bytes),
          printable(cells[8])};
}

void refuse_unfinished(const CostTable& table) {
  using Line = std::pair<std::string, std::string>;
  const auto found = std::ranges::find(table.header, unfinished_key, &Line::first);
  if (found == table.header.end())
    return;
  const auto command = std::ranges::find(table.header, "command", &Line::first);
  throw std::invalid_argument(
      table.path + ": unfinished, " + found->second +
      "; to go on: " + (command == table.header.end() ? "syncline-calibrate" : command->second) +
      " --resume " + table.path);
}

// A range must be marked as one, with both ends in every row.
void check_range(const CostTable& table) {
  if (!table.is_range())
    return;
  if (table.about("provenance") == "measured")
    throw std::invalid_argument(table.path +
                                ": a measured table must not have a '# range: ...' line: its p10 "
                                "and p90 are those of its runs");
  for (const CostRow& row : table.rows)
    if (!(row.p10 > 0 && row.p10 <= row.seconds && row.seconds <= row.p90))
      throw std::invalid_argument(table.path +
                                  ": a range must have 0 < p10 <= seconds <= p90, unlike " +
                                  row.operation + " of " + row.compressor + " (" + row.settings +
                                  ") at " + number_text(row.elements) + " elements");
}

}  // namespace

CostTable read_cost_table(const std::string& path, bool or_unfinished) {
  CostTable table;
  table.path = path;
  std::vector<std::string> names;
  std::set<CostRow::Key> seen;
  read_csv_lines(path, CsvFields::exact, [&](const CsvLine& line) {
    if (line.kind == CsvLine::Kind::row) {
      table.rows.push_back(parsed_row(line.fields, names));
      if (!seen.insert(table.rows.back().key()).second)
        throw std::invalid_argument(
            "a second row for this compressor, parameters, operation, "
            "elements and distribution: only one is allowed");
    } else if (line.kind == CsvLine::Kind::columns) {
      if (line.text != columns)
        throw std::invalid_argument("wrong columns, allowed are " + columns);
      names = line.fields;
    } else {
      const std::size_t colon = line.text.find(": ");
      if (line.text.size() < 3 || colon == std::string::npos || line.kind == CsvLine::Kind::comment)
        throw std::invalid_argument("a comment must be '# key: value', before the columns");
      table.header.emplace_back(printable(line.text.substr(2, colon - 2)),
                                printable(line.text.substr(colon + 2)));
    }
  });
  if (table.rows.empty())
    throw std::invalid_argument(path + ": no rows; a table has columns " + columns);
  for (const std::string key : {"device", "provenance", "driver", "model", "range"})
    if (std::ranges::count(table.header, key, &std::pair<std::string, std::string>::first) > 1)
      throw std::invalid_argument(path + ": a second '# " + key +
                                  ": ...' line: only one is allowed");
  table.about("device");
  const std::string provenance = table.about("provenance");
  if (provenance != "measured" && provenance != "published" && provenance != "modelled")
    throw std::invalid_argument(path + ": provenance '" + brief(provenance) +
                                "': allowed are measured, published or modelled");
  if (!or_unfinished)
    refuse_unfinished(table);
  check_range(table);
  return table;
}

void write_cost_table(const CostTable& table, const std::string& path) {
  std::ostringstream file;
  for (const auto& [key, value] : table.header)
    file << "# " << key << ": " << value << "\n";
  file << columns << "\n";
  for (const CostRow& row : table.rows)
    file << row.compressor << "," << row.settings << "," << row.operation << ","
         << number_text(row.elements) << "," << number_text(row.seconds) << ","
         << number_text(row.p10) << "," << number_text(row.p90) << ","
         << number_text(row.wire_bytes) << "," << row.distribution << "\n";
  write_atomically(path, file.str());
}

}  // namespace syncline

#include "kernels/cost_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace syncline {
namespace {

const std::string columns =
    "compressor,parameters,operation,elements,seconds,p10,p90,wire_bytes,distribution";

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

std::string number_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", number);
  return text;
}

double parsed(const std::string& where, const std::string& column, const std::string& text,
              double minimum) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number) ||
      number < minimum)
    throw std::invalid_argument(where + ": " + column + " = '" + text +
                                "': allowed are numbers from " + number_text(minimum));
  return number;
}

CostRow parsed_row(const std::string& where, const std::string& line) {
  const std::vector<std::string> cells = split(line, ',');
  if (cells.size() != 9)
    throw std::invalid_argument(where + ": " + std::to_string(cells.size()) +
                                " columns, allowed are the 9 of " + columns);
  for (const std::size_t column : {0u, 2u, 8u})
    if (cells[column].empty())
      throw std::invalid_argument(where + ": " + split(columns, ',')[column] + " is empty");
  return {cells[0],
          cells[1],
          cells[2],
          parsed(where, "elements", cells[3], 1),
          parsed(where, "seconds", cells[4], 1e-12),
          parsed(where, "p10", cells[5], 0),
          parsed(where, "p90", cells[6], 0),
          parsed(where, "wire_bytes", cells[7], 0),
          cells[8]};
}

const Parameter* parameter_of(const Compressor& compressor, const std::string& name) {
  for (const Parameter& parameter : compressor.parameters)
    if (parameter.name == name)
      return &parameter;
  return nullptr;
}

// Does every name=value of the row agree with the settings?
bool speaks_for(const CostRow& row, const Compressor& compressor, const Settings& settings) {
  if (row.compressor != compressor.name)
    return false;
  std::istringstream words(row.parameters);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    const Parameter* parameter = parameter_of(compressor, word.substr(0, equals));
    if (equals == std::string::npos || parameter == nullptr)
      return false;
    const std::string value = word.substr(equals + 1);
    if (!parameter->choices.empty() && value != settings.word(parameter->name))
      return false;
    if (parameter->choices.empty() &&
        std::strtod(value.c_str(), nullptr) != settings.number(parameter->name))
      return false;
  }
  return true;
}

std::string command_for(const CostTable& table, const Compressor& compressor,
                        const Settings& settings, double elements) {
  std::string command = "syncline-calibrate --compressors " + compressor.name + " --sizes " +
                        number_text(std::ceil(elements));
  if (parameter_of(compressor, "density") != nullptr)
    command += " --densities " + number_text(settings.number("density"));
  if (parameter_of(compressor, "bits") != nullptr)
    command += " --bits " + number_text(settings.number("bits"));
  return command + " --append " + table.path;
}

}  // namespace

std::string written_settings(const Compressor& compressor, const Settings& settings) {
  std::string text;
  for (const Parameter& parameter : compressor.parameters) {
    text += (text.empty() ? "" : " ") + parameter.name + "=";
    text += parameter.choices.empty() ? number_text(settings.number(parameter.name))
                                      : settings.word(parameter.name);
  }
  return text;
}

const std::string& CostTable::about(const std::string& key) const {
  for (const auto& [name, value] : header)
    if (name == key)
      return value;
  throw std::invalid_argument(path + ": the header has no '# " + key + ": ...' line");
}

double CostTable::seconds(const Compressor& compressor, const Settings& settings,
                          const std::string& operation, double elements) const {
  std::vector<const CostRow*> found;
  for (const CostRow& row : rows)
    if (row.operation == operation && speaks_for(row, compressor, settings) &&
        (found.empty() || row.distribution == found.front()->distribution))
      found.push_back(&row);
  const std::string what = path + ": " + operation + " of " + compressor.name + " (" +
                           written_settings(compressor, settings) + ")";
  const std::string advice =
      "; to measure it: " + command_for(*this, compressor, settings, elements);
  if (found.empty())
    throw std::invalid_argument(what + " is not in the table" + advice);
  std::sort(found.begin(), found.end(),
            [](const CostRow* a, const CostRow* b) { return a->elements < b->elements; });
  if (elements < found.front()->elements || elements > found.back()->elements)
    throw std::invalid_argument(what + " at " + number_text(elements) + " elements: allowed are " +
                                number_text(found.front()->elements) + " to " +
                                number_text(found.back()->elements) + advice);
  std::size_t next = 0;
  while (found[next]->elements < elements)
    ++next;
  if (found[next]->elements == elements)
    return found[next]->seconds;
  const CostRow &a = *found[next - 1], &b = *found[next];
  const double share = std::log(elements / a.elements) / std::log(b.elements / a.elements);
  return a.seconds * std::pow(b.seconds / a.seconds, share);
}

CostTable read_cost_table(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    throw std::invalid_argument(path + ": cannot be read");
  CostTable table;
  table.path = path;
  bool in_rows = false;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    const std::string where = path + ":" + std::to_string(++number);
    if (file.eof())
      throw std::invalid_argument(where + ": the last line does not end; is the file truncated?");
    if (line.starts_with("#")) {
      const std::size_t colon = line.find(": ");
      if (line.size() < 3 || colon == std::string::npos || in_rows)
        throw std::invalid_argument(where + ": allowed here is '# key: value', before the columns");
      table.header.emplace_back(line.substr(2, colon - 2), line.substr(colon + 2));
    } else if (!in_rows) {
      if (line != columns)
        throw std::invalid_argument(where + ": wrong columns, allowed are " + columns);
      in_rows = true;
    } else {
      table.rows.push_back(parsed_row(where, line));
    }
  }
  if (table.rows.empty())
    throw std::invalid_argument(path + ": no rows; a table has columns " + columns);
  table.about("device");
  const std::string& provenance = table.about("provenance");
  if (provenance != "measured" && provenance != "published" && provenance != "modelled")
    throw std::invalid_argument(path + ": provenance '" + provenance +
                                "': allowed are measured, published or modelled");
  return table;
}

void write_cost_table(const CostTable& table, const std::string& path) {
  const std::string unfinished = path + ".part";  // renamed at the end: a killed run leaves no half
  std::ofstream file(unfinished);
  for (const auto& [key, value] : table.header)
    file << "# " << key << ": " << value << "\n";
  file << columns << "\n";
  for (const CostRow& row : table.rows)
    file << row.compressor << "," << row.parameters << "," << row.operation << ","
         << number_text(row.elements) << "," << number_text(row.seconds) << ","
         << number_text(row.p10) << "," << number_text(row.p90) << ","
         << number_text(row.wire_bytes) << "," << row.distribution << "\n";
  file.close();
  if (!file || std::rename(unfinished.c_str(), path.c_str()) != 0)
    throw std::invalid_argument(path + ": cannot be written");
}

}  // namespace syncline

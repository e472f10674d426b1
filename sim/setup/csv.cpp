#include "sim/setup/csv.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "kernels/registry.h"

namespace syncline {

std::string trimmed(const std::string& text) {
  const char* blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  return first == std::string::npos ? ""
                                    : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> fields;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = text.find(separator, begin);
    fields.push_back(trimmed(text.substr(begin, end - begin)));
    if (end == std::string::npos)
      return fields;
    begin = end + 1;
  }
}

std::size_t Csv::column(const std::string& name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end())
    throw std::runtime_error(path + ": no column '" + name + "': its columns are " +
                             listed(columns));
  return static_cast<std::size_t>(found - columns.begin());
}

Csv read_csv(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    throw std::runtime_error(path + ": no such file, or it cannot be read");
  Csv csv{.path = path, .header = {}, .columns = {}, .rows = {}};
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    line = trimmed(line);
    if (line.empty())
      continue;
    if (line.front() == '#') {
      const std::size_t colon = line.find(':');
      if (csv.columns.empty() && colon != std::string::npos)
        csv.header[trimmed(line.substr(1, colon - 1))] = trimmed(line.substr(colon + 1));
      continue;
    }
    std::vector<std::string> fields = split(line, ',');
    if (csv.columns.empty()) {
      csv.columns = std::move(fields);
      continue;
    }
    if (fields.size() != csv.columns.size())
      throw std::runtime_error(path + ":" + std::to_string(number) + ": " +
                               std::to_string(fields.size()) + " fields, but the columns are " +
                               listed(csv.columns));
    csv.rows.push_back({number, std::move(fields)});
  }
  if (csv.columns.empty())
    throw std::runtime_error(path + ": no line with column names");
  return csv;
}

}  // namespace syncline

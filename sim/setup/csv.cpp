#include "sim/setup/csv.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "kernels/registry.h"
#include "sim/setup/files.h"

namespace syncline {

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
        csv.header[trimmed(line.substr(1, colon - 1))] = printable(trimmed(line.substr(colon + 1)));
      continue;
    }
    std::vector<std::string> fields = split(line, ',');
    std::ranges::transform(fields, fields.begin(), printable);
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

#include "sim/setup/csv.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "kernels/io/text.h"
#include "kernels/registry.h"
#include "sim/setup/files.h"

namespace syncline {

const std::string* Csv::about(const std::string& key) const {
  const auto [first, last] = header.equal_range(key);
  if (first == last)
    return nullptr;
  if (std::next(first) != last)
    throw std::runtime_error(path + ": a second '# " + key + ": ...' line: allowed is one");
  return &first->second;
}

std::size_t Csv::column(const std::string& name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end())
    throw std::runtime_error(path + ": no column '" + brief(name) + "': its columns are " +
                             brief(listed(columns)));
  return static_cast<std::size_t>(found - columns.begin());
}

Csv read_csv(const std::string& path) {
  Csv csv{.path = path, .header = {}, .columns = {}, .rows = {}};
  read_lines(path, [&](const TextLine& raw) {
    const std::string line = trimmed(raw.text);
    const auto refuse = [&](const std::string& why) {
      throw std::runtime_error(path + ":" + std::to_string(raw.number) + ": " + why);
    };
    if (line.empty())
      return;
    if (line.front() == '#') {
      const std::size_t colon = line.find(':');
      if (!csv.columns.empty() || colon == std::string::npos)
        return;
      csv.header.emplace(trimmed(line.substr(1, colon - 1)),
                         printable(trimmed(line.substr(colon + 1))));
      return;
    }
    std::vector<std::string> fields = split(line, ',');
    std::ranges::transform(fields, fields.begin(), printable);
    if (csv.columns.empty()) {
      csv.columns = std::move(fields);
      std::set<std::string> seen;
      for (const std::string& column : csv.columns)
        if (!seen.insert(column).second)
          refuse("a second column '" + brief(column) + "': allowed is one");
      return;
    }
    if (fields.size() != csv.columns.size())
      refuse(std::to_string(fields.size()) + " fields, but the columns are " +
             brief(listed(csv.columns)));
    csv.rows.push_back({raw.number, std::move(fields)});
  });
  if (csv.columns.empty())
    throw std::runtime_error(path + ": no line with column names");
  return csv;
}

}  // namespace syncline

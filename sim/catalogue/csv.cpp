#include "sim/catalogue/csv.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "kernels/io/csv.h"
#include "kernels/io/text.h"
#include "kernels/registry.h"
#include "sim/catalogue/refuse.h"

namespace syncline {

const std::string* Csv::about(const std::string& key) const {
  const auto [first, last] = header.equal_range(key);
  if (first == last)
    return nullptr;
  if (std::next(first) != last)
    refuse_file(path, "a second '# {}: ...' line: allowed is one", key);
  return &first->second;
}

std::size_t Csv::column(const std::string& name) const {
  const auto found = std::ranges::find(columns, name);
  if (found == columns.end())
    refuse_file(path, "no column '{}': its columns are {}", brief(name), brief(listed(columns)));
  return static_cast<std::size_t>(found - columns.begin());
}

Csv read_csv(const std::string& path) {
  Csv csv{.path = path};
  read_csv_lines(path, CsvFields::trimmed, [&](const CsvLine& line) {
    switch (line.kind) {
      case CsvLine::Kind::header:
        if (const std::size_t colon = line.text.find(':'); colon != std::string::npos)
          csv.header.emplace(trimmed(line.text.substr(1, colon - 1)),
                             printable(trimmed(line.text.substr(colon + 1))));
        return;
      case CsvLine::Kind::columns:
        csv.columns = line.fields;
        for (std::set<std::string> seen; const std::string& column : csv.columns)
          if (!seen.insert(column).second)
            refuse("a second column '{}': allowed is one", brief(column));
        return;
      case CsvLine::Kind::comment:
        return;
      case CsvLine::Kind::row:
        if (line.fields.size() != csv.columns.size())
          refuse("{} fields, but the columns are {}", line.fields.size(),
                 brief(listed(csv.columns)));
        csv.rows.push_back({line.number, line.fields});
    }
  });
  if (csv.columns.empty())
    refuse_file(path, "no line with column names");
  if (csv.rows.empty())
    refuse_file(path, "no rows below its column names: allowed are one or more");
  return csv;
}

void Csv::for_each_row(const std::function<void(const Row&)>& see) const {
  for (const Row& row : rows)
    try {
      see(row);
    } catch (const std::invalid_argument& error) {
      refuse_at(path, row.line, error.what());
    }
}

}  // namespace syncline

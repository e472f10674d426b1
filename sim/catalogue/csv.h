// Our three kinds of CSV file (models, throughputs, measurements): `#` comment lines, then the
// column names, then rows. A comment `# key: value` before the column names is a header. Fields
// contain no commas and no quotes.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace syncline {

struct Csv {
  std::string path;
  std::multimap<std::string, std::string> header;
  std::vector<std::string> columns;
  struct Row {
    int line = 0;  // in the file, from 1, for error messages
    std::vector<std::string> fields;
  };
  std::vector<Row> rows;

  // A value of the header, or null. Throws std::runtime_error if the key occurs twice.
  const std::string* about(const std::string& key) const;
  // Index of a column. Throws std::runtime_error that names the existing columns.
  std::size_t column(const std::string& name) const;
  // Calls `see` for each row. Turns a std::invalid_argument from `see` into a std::runtime_error
  // "path:line: ...".
  void for_each_row(const std::function<void(const Row&)>& see) const;
  // "path:line", for the beginning of an error message.
  std::string where(const Row& row) const { return path + ":" + std::to_string(row.line); }
};

// Throws std::runtime_error if there is no such file, no column names, a column name twice, no
// rows, or a row with too few or too many fields.
Csv read_csv(const std::string& path);

}  // namespace syncline

// Files of comma-separated values: `#` lines, then a line of column names, then rows. All such
// files are parsed here; their readers interpret the columns.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace syncline {

struct CsvLine {
  enum class Kind {
    header,   // a `#` line before the column names
    columns,  // the column names
    comment,  // a `#` line after the column names
    row
  } kind = Kind::row;
  int number = 0;  // in the file, from 1
  std::string text;
  std::vector<std::string> fields;  // of the column names or of a row
};

// How lines are parsed.
enum class CsvFields {
  exact,    // every byte counts; an empty line is a row; the last line must end
  trimmed,  // trims lines and fields, skips empty lines, makes fields printable
  quoted    // also: fields in quotes may have commas, "" is a quote
};

// Calls `see` for each line that is not skipped. Throws what read_lines throws, and
// std::runtime_error "path:line: ..." if `see` throws std::invalid_argument or the text breaks
// these rules.
void read_csv_lines(const std::string& path, CsvFields fields,
                    const std::function<void(const CsvLine&)>& see);

// The same for a text that is not a file; errors call it `path`.
void read_csv_text(const std::string& text, const std::string& path, CsvFields fields,
                   const std::function<void(const CsvLine&)>& see);

}  // namespace syncline

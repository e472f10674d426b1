// Files of comma-separated values: `#` lines, then a line of column names, then rows. All that we
// read of them is read here; what the columns mean is their readers' business.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace syncline {

struct CsvLine {
  enum class Kind {
    header,   // a `#` line before the column names
    columns,  // their names
    comment,  // a `#` line after them
    row
  } kind = Kind::row;
  int number = 0;  // in the file, from 1
  std::string text;
  std::vector<std::string> fields;  // of column names and of a row
};

// The parts of a line that count.
enum class CsvFields {
  exact,    // every byte, and an empty line is a row; the last line has to end
  trimmed,  // no blanks at the ends of lines and fields, and no empty lines; fields are printable
  quoted    // the same, but in quotes a field has commas, and two quotes are one
};

// Calls `see` for each line that counts. Throws what read_lines throws; and a std::runtime_error
// "path:line: ..." where `see` throws std::invalid_argument, or where the text is none of that
// kind.
void read_csv_lines(const std::string& path, CsvFields fields,
                    const std::function<void(const CsvLine&)>& see);

// The same of a text that is no file; `path` is what errors call it.
void read_csv_text(const std::string& text, const std::string& path, CsvFields fields,
                   const std::function<void(const CsvLine&)>& see);

}  // namespace syncline

#include "sim/commands/history_csv.h"

#include <fmt/format.h>
#include <stdexcept>

#include "kernels/io/csv.h"
#include "kernels/io/text.h"
#include "kernels/registry.h"
#include "sim/commands/expected_csv.h"
#include "sim/report/readable.h"
#include "sim/report/result_json.h"

namespace syncline {

const std::string history_begin = "commit,cell,figure,value\n";

History read_history(const std::string& path) {
  History history;
  read_csv_lines(path, CsvFields::quoted, [&](const CsvLine& line) {
    using Kind = CsvLine::Kind;
    if (line.kind == Kind::columns && line.text + "\n" != history_begin)
      throw std::invalid_argument("not a file of check --history: allowed are the columns " +
                                  trimmed(history_begin));
    if (line.kind != Kind::row)
      return;
    if (line.fields.size() != 4)
      throw std::invalid_argument(std::to_string(line.fields.size()) +
                                  " fields: allowed are commit,cell,figure,value");
    history.push_back(
        {line.fields[0], line.fields[1], line.fields[2],
         checked_number({.name = "value", .minimum = -1e18, .maximum = 1e18}, line.fields[3])});
  });
  return history;
}

std::string history_text(const History& history) {
  std::string text = history_begin;
  for (const HistoryRow& row : history)
    text += fmt::format("{},{},{},{}\n", first_field(row.commit), csv_field(row.cell),
                        csv_field(row.figure), exact_text(row.value));
  return text;
}

}  // namespace syncline

#include "kernels/io/csv.h"

#include <stdexcept>

#include "kernels/io/text.h"

namespace syncline {
namespace {

std::vector<std::string> fields_of(const std::string& line, CsvFields wanted) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && wanted == CsvFields::quoted) {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"')
        fields.back() += line[++i];
      else
        quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  if (quoted)
    throw std::invalid_argument("a quote without its end: allowed are pairs, \"...\"");
  if (wanted != CsvFields::exact)
    for (std::string& field : fields)
      field = printable(trimmed(field));
  return fields;
}

}  // namespace

void read_csv_lines(const std::string& path, CsvFields fields,
                    const std::function<void(const CsvLine&)>& see) {
  bool has_columns = false;
  const auto read = [&](const TextLine& raw) {
    using Kind = CsvLine::Kind;
    const bool exact = fields == CsvFields::exact;
    if (exact && !raw.ends)
      throw std::invalid_argument("the last line does not end; is the file truncated?");
    CsvLine line{.number = raw.number, .text = exact ? raw.text : trimmed(raw.text), .fields = {}};
    if (line.text.empty() && !exact)
      return;
    const bool is_comment = line.text.starts_with("#");
    if (!is_comment)
      line.fields = fields_of(line.text, fields);
    line.kind = is_comment ? (has_columns ? Kind::comment : Kind::header)
                           : (has_columns ? Kind::row : Kind::columns);
    has_columns = has_columns || !is_comment;
    see(line);
  };
  read_lines(path, [&](const TextLine& raw) {
    try {
      read(raw);
    } catch (const std::invalid_argument& error) {
      refuse_at(path, raw.number, error.what());
    }
  });
}

}  // namespace syncline

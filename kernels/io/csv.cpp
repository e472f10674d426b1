#include "kernels/io/csv.h"

#include <stdexcept>

#include "kernels/io/lines.h"
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

// Parses the lines of a text by the rules of `fields`.
class CsvReader {
 public:
  CsvReader(const std::string& path, CsvFields fields,
            const std::function<void(const CsvLine&)>& see)
      : path_(path), fields_(fields), see_(see) {}

  void operator()(const TextLine& raw) {
    try {
      read(raw);
    } catch (const std::invalid_argument& error) {
      refuse_at(path_, raw.number, error.what());
    }
  }

 private:
  void read(const TextLine& raw) {
    using Kind = CsvLine::Kind;
    const bool exact = fields_ == CsvFields::exact;
    if (exact && !raw.ends)
      throw std::invalid_argument("the last line does not end; is the file truncated?");
    CsvLine line{.number = raw.number, .text = exact ? raw.text : trimmed(raw.text), .fields = {}};
    if (line.text.empty() && !exact)
      return;
    const bool is_comment = line.text.starts_with("#");
    if (!is_comment)
      line.fields = fields_of(line.text, fields_);
    line.kind = is_comment ? (has_columns_ ? Kind::comment : Kind::header)
                           : (has_columns_ ? Kind::row : Kind::columns);
    has_columns_ = has_columns_ || !is_comment;
    see_(line);
  }

  std::string path_;
  CsvFields fields_;
  const std::function<void(const CsvLine&)>& see_;
  bool has_columns_ = false;
};

}  // namespace

void read_csv_lines(const std::string& path, CsvFields fields,
                    const std::function<void(const CsvLine&)>& see) {
  read_lines(path, CsvReader(path, fields, see));
}

void read_csv_text(const std::string& text, const std::string& path, CsvFields fields,
                   const std::function<void(const CsvLine&)>& see) {
  read_lines_of(text, path, CsvReader(path, fields, see));
}

}  // namespace syncline

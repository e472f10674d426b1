// Cost tables: the seconds that one device took for each operation of each compressor, and the
// bytes of the messages. syncline-calibrate writes the tables and simulations read them; nothing
// else connects the two (README.md).
//
// A file is a header of `# key: value` lines, then CSV. `parameters` is a list of name=value
// separated by spaces; a row applies to every setting that agrees with the values it names.
#pragma once

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/compressor.h"

namespace syncline {

constexpr double most_elements = 0xffffffff;  // of a bucket: messages number elements in 32 bits

struct CostRow {
  std::string compressor;
  std::string settings;
  std::string operation;  // encode or decode, or a variant of either, such as further_operation
  double elements = 0;
  double seconds = 0;  // the median, or the typical figure
  double p10 = 0;      // of runs; in a range, the fast end
  double p90 = 0;      // of runs; in a range, the slow end
  double wire_bytes = 0;
  std::string distribution;

  // Identifies a row: a table has at most one row per key.
  using Key = std::tuple<std::string, std::string, std::string, double, std::string>;
  Key key() const { return {compressor, settings, operation, elements, distribution}; }
};

// Decoding one more message at the same time: the seconds of several, less those of one, divided by
// the number of the others.
inline const std::string further_operation = "decode-further";

// One figure that a caller needs from a table.
struct CostQuestion {
  const Compressor* compressor = nullptr;
  Settings settings;
  std::string operation;
  double elements = 0;
};

struct CostTable {
  std::string path;  // where the table was read, for messages
  std::vector<std::pair<std::string, std::string>> header;
  std::vector<CostRow> rows;

  // Returns a header value. Throws std::invalid_argument when the key is missing.
  const std::string& about(const std::string& key) const;

  // True if each row's p10 and p90 are the ends of a range of its seconds, because the figures are
  // modelled or come from several sources.
  bool is_range() const;

  // Seconds of an operation on a tensor of `elements` elements. Interpolates linearly in logarithms
  // between the two nearest sizes; where no row has the density, between the two nearest densities
  // measured at such sizes. Outside the measured ranges, or for settings that no row covers, throws
  // std::invalid_argument that names what the table has and the command that would measure the
  // rest.
  double seconds(const Compressor& compressor, const Settings& settings,
                 const std::string& operation, double elements,
                 double CostRow::*figure = &CostRow::seconds) const;

  // The lowest density among this compressor's rows; 0 where none names a density.
  double lowest_density(const Compressor& compressor) const;

  // Returns "" if all questions have an answer. Otherwise one line: the first question without one,
  // how many more there are, and the command that measures everything missing.
  std::string lacking(const std::vector<CostQuestion>& questions) const;
};

// A table still being measured has a header line with this key, which says how far it is. The line
// is removed when all is measured, or as much as was wanted (--budget).
inline const std::string unfinished_key = "unfinished";

// Reads a table; throws std::exception with path, line, what is wrong and what is allowed. A table
// must name its device and provenance (measured, published or modelled) and hold at least one row.
// With a `range` line, seconds of each row must lie between its p10 and p90. An unfinished table is
// refused, with the command that resumes it, unless `or_unfinished`.
CostTable read_cost_table(const std::string& path, bool or_unfinished = false);
// Writes a table with write_atomically (kernels/io/whole_file.h).
void write_cost_table(const CostTable& table, const std::string& path);

// Every option that changes the cost, with its value: "density=0.01 sides=two".
std::string written_settings(const Compressor& compressor, const Settings& settings);

}  // namespace syncline

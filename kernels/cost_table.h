// Cost tables: what one device took for one operation of one compressor, and the bytes it made. The
// calibrator writes them, simulations read them; nothing else connects the two (README.md).
//
// A file is a header of `# key: value` lines, then CSV. `parameters` is a list of name=value
// separated by spaces; a row speaks for every setting that agrees with those it names.
#pragma once

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/compressor.h"

namespace syncline {

constexpr double most_elements = 0xffffffff;  // of a bucket: messages number them in 32 bits

struct CostRow {
  std::string compressor;
  std::string settings;
  std::string operation;  // encode, decode, or a variant of either, such as further_operation
  double elements = 0;
  double seconds = 0;  // the median, or what is typical
  double p10 = 0;      // of runs; or the fast end, where the table is a range
  double p90 = 0;      // and the slow end
  double wire_bytes = 0;
  std::string distribution;

  // A table says this once.
  using Key = std::tuple<std::string, std::string, std::string, double, std::string>;
  Key key() const { return {compressor, settings, operation, elements, distribution}; }
};

// Decoding one more message at the same time: what several take, less the first, over the others.
inline const std::string further_operation = "decode-further";

// A figure that somebody wants of a table.
struct CostQuestion {
  const Compressor* compressor = nullptr;
  Settings settings;
  std::string operation;
  double elements = 0;
};

struct CostTable {
  std::string path;  // where it was read from, for messages
  std::vector<std::pair<std::string, std::string>> header;
  std::vector<CostRow> rows;

  // A header value. Throws std::invalid_argument when there is none.
  const std::string& about(const std::string& key) const;

  // Nobody measured it, or several did: p10 and p90 of a row are between what it takes.
  bool is_range() const;

  // Seconds of an operation on a tensor of that many elements: a straight line in logarithms
  // between the two nearest measured sizes; where no row has the density, between the two nearest
  // densities that were measured at such sizes. Outside the measured ranges, or for settings that
  // no row speaks for, throws std::invalid_argument that names what there is and the command that
  // would measure it.
  double seconds(const Compressor& compressor, const Settings& settings,
                 const std::string& operation, double elements,
                 double CostRow::*figure = &CostRow::seconds) const;

  // The lowest density of this compressor's rows; 0 where none names one.
  double lowest_density(const Compressor& compressor) const;

  // Empty where all of these have an answer. Else one line: the first that has none, how many more
  // there are, and the command that measures whatever it takes to answer them all.
  std::string lacking(const std::vector<CostQuestion>& questions) const;
};

// The header of a table that is still being measured has a line of this key, which says how far it
// is; the line goes when all has been measured, or as much as was wanted.
inline const std::string unfinished_key = "unfinished";

// Throws std::exception with path, line, what is wrong and what is allowed. A table must
// say its device and provenance (measured, published or modelled), and hold at least one row. With
// a line `range` it is one: seconds of each row are then between its p10 and its p90. One that is
// unfinished is refused, with the command that goes on, unless `or_unfinished`.
CostTable read_cost_table(const std::string& path, bool or_unfinished = false);
// Writes as write_atomically does (kernels/io/whole_file.h).
void write_cost_table(const CostTable& table, const std::string& path);

// "density=0.01 sides=two": every option that changes the cost, as it is set.
std::string written_settings(const Compressor& compressor, const Settings& settings);

}  // namespace syncline

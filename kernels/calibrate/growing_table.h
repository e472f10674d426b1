// A cost table that grows on the disk, measurement by measurement: whatever ends the program leaves
// the rows that there were. Until the last one its header says `unfinished`, which no simulation
// reads (cost_table.h).
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "kernels/calibrate/calibrate.h"

namespace syncline {

// Rows that are measured together, or not at all.
struct Measurement {
  std::string name, distribution;  // "topk", "gauss"
  std::size_t elements = 0;
  std::vector<CostRow::Key> rows;
  std::function<void()> make;  // calls GrowingTable::add for each of these

  std::string what() const {
    return name + ", " + distribution + ", " + std::to_string(elements) + " elements";
  }
};

// What measuring a cell adds.
std::vector<CostRow::Key> rows_of(const Cell& cell, std::size_t elements,
                                  const std::string& distribution);

// Throws std::invalid_argument unless the table's header says `ours` of `key`.
void require_same(const CostTable& table, const std::string& key, const std::string& ours,
                  const char* option);
// Puts rows into a table, in place of older ones of the same key; returns how many of those.
std::size_t take_rows(const std::vector<CostRow>& rows, CostTable& table);
void say_written(const CalibrateOptions& options, std::size_t rows, std::size_t older);
// That there are no rows, of which compressors, and why: the program then ends with 1.
void say_nothing_came(const CalibrateOptions& options, const char* why);

using HeaderLines = std::vector<std::pair<std::string, std::string>>;

inline const std::string clocks_key = "clocks";  // a line for each run that the table is of

struct MeasuringMethod {
  double copy_bandwidth = 0;                // bytes read and written per second
  std::string cold_cache;                   // "64 MiB written"
  std::string small_spread;                 // "10 %"
  std::function<HeaderLines()> notes = {};  // more to say of the measurements so far
  // Why nothing more can be measured after a failure; empty: it can.
  std::function<std::string()> lost = {};
};

class GrowingTable {
 public:
  // `machine`: the device, the driver and the toolkit. Reads the table that is to be gone on with,
  // or added to; throws std::exception where that is of another device, command or commit.
  GrowingTable(const CalibrateOptions& options, HeaderLines machine);

  // One row of the measurement that is being made.
  void add(const std::string& name, const std::string& settings, const std::string& operation,
           std::size_t elements, double bytes_moved, double wire_bytes,
           const std::string& distribution, const Timing& timing);

  // Makes what is missing, one after the other. What cannot be measured is reported and left out,
  // what comes after the budget is named. Returns the program's exit code: 1 where something was
  // left out, or where nothing came of it.
  int measure(const std::vector<Measurement>& all, const MeasuringMethod& method);

 private:
  void make(const Measurement& one);
  void save(const std::string& unfinished);
  HeaderLines header(const std::string& unfinished) const;
  int finish(std::size_t measurements);

  const CalibrateOptions& options_;
  HeaderLines machine_, older_clocks_;
  MeasuringMethod method_;
  CostTable table_;
  std::vector<CostRow> fresh_;  // of the measurement that is being made
  std::size_t fresh_noisy_ = 0, noisy_ = 0, added_ = 0, replaced_ = 0;
  std::vector<std::string> left_out_;
  std::vector<const Measurement*> not_reached_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

}  // namespace syncline

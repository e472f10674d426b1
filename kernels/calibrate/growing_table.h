// A cost table that grows on disk, measurement by measurement: if the program ends early, the rows
// measured before stay. Until the last one its header says `unfinished`, and simulations refuse it
// (cost_table.h).
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "kernels/calibrate/calibrate.h"

namespace syncline {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Rows that are measured together or not at all.
struct Measurement {
  std::string name, distribution;  // "topk", "gauss"
  std::size_t elements = 0;
  std::vector<CostRow::Key> rows;
  std::function<void()> make;  // calls GrowingTable::add for each row

  std::string what() const {
    return name + ", " + distribution + ", " + std::to_string(elements) + " elements";
  }
};

// The keys of the rows that measuring a cell adds.
std::vector<CostRow::Key> rows_of(const Cell& cell, std::size_t elements,
                                  const std::string& distribution);

// Throws std::invalid_argument unless the table's header has the value `ours` for `key`.
void require_same(const CostTable& table, const std::string& key, const std::string& ours,
                  const char* option);
// Puts rows into a table, in place of older rows with the same key; returns the number replaced.
std::size_t take_rows(const std::vector<CostRow>& rows, CostTable& table);
void say_written(const CalibrateOptions& options, std::size_t rows, std::size_t older);
// Reports that there are no rows, for which compressors, and why; the program then ends with 1.
void say_nothing_came(const CalibrateOptions& options, const char* why);

using HeaderLines = std::vector<std::pair<std::string, std::string>>;

inline const std::string clocks_key = "clocks";  // one line per run in the table

struct MeasuringMethod {
  double copy_bandwidth = 0;                // bytes read and written per second
  std::string cold_cache;                   // "64 MiB written"
  std::string small_spread;                 // "10 %"
  std::function<HeaderLines()> notes = {};  // header lines about the measurements so far
  // After a failure, why nothing more can be measured; empty: measuring can go on.
  std::function<std::string()> lost = {};
};

class GrowingTable {
 public:
  // `machine`: device, driver and toolkit. Reads the table to resume or to append to; throws
  // std::exception if that table is of another device, command or commit.
  GrowingTable(const CalibrateOptions& options, HeaderLines machine);

  // Adds one row of the measurement being made.
  void add(const std::string& name, const std::string& settings, const std::string& operation,
           std::size_t elements, double bytes_moved, double wire_bytes,
           const std::string& distribution, const Timing& timing);

  // Makes the missing measurements in order. Reports and leaves out those that fail, and names
  // those not reached within the budget. Returns the program's exit code: 1 if something was left
  // out or no row was added.
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
  std::vector<CostRow> fresh_;  // of the measurement being made
  std::size_t fresh_noisy_ = 0, noisy_ = 0, added_ = 0, replaced_ = 0;
  std::vector<std::string> left_out_;
  std::vector<const Measurement*> not_reached_;
  Clock::time_point begun_ = Clock::now();
};

}  // namespace syncline

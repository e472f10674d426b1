// The parts of syncline-calibrate, which measures what compressors cost on this device.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "kernels/compressor.h"
#include "kernels/cost_table.h"

namespace syncline {

struct CalibrateOptions {
  std::string device = "cpu";
  std::string out, append, resume;  // exactly one is given: the table
  std::string model;
  std::vector<std::string> compressors, densities, bits, distributions;
  std::map<std::string, std::vector<std::string>> set;  // other options, by name
  std::vector<std::size_t> sizes;
  std::string command;  // as given, without where the table goes and the budget
  double budget_s = std::numeric_limits<double>::infinity();
  int threads = 0;  // 0: all
  bool baselines = true;
};

// Throws std::invalid_argument for anything that is not allowed.
CalibrateOptions parsed_options(const std::vector<std::string>& arguments);
std::string usage();
const std::string& table_path(const CalibrateOptions& options);

// One cell of the measurement: a compressor with its settings.
struct Cell {
  const Compressor* compressor = nullptr;
  Settings settings;
};
std::vector<Cell> cells_of(const CalibrateOptions& options);

// Gradients by name of their distribution. starting_state says how `steady` differs from the
// others.
const std::vector<std::string>& gradient_names();
Values gradient_of(const std::string& distribution, std::size_t elements, std::uint64_t seed);

// The state before a measured encoding: after ten steps of error feedback for `steady`, empty for
// the others.
State starting_state(const Cell& cell, const std::string& distribution, std::size_t elements);

struct Timing {
  double median = 0, p10 = 0, p90 = 0;
  bool quiet = false;  // the spread became small enough
};

// The median of calls of `sample`, repeated until the quartiles are closer than a small share of it
// or the patience ends.
Timing timed_samples(const std::function<double()>& sample, double patience_seconds,
                     double small_spread);

// The time of a further message: a sixteenth of what this many messages take longer than one.
inline constexpr std::size_t messages_of_slope = 17;
Timing further_message(const Timing& one, const Timing& many);
double further_s(double one_s, double many_s);  // at least a nanosecond, the least a timing shows

// Write the table while measuring, and return the program's exit code.
int measure_on_cpu(const CalibrateOptions& options);
int measure_on_cuda(const CalibrateOptions& options);
CostTable modelled(const CalibrateOptions& options);

// today(): "2026-11-21"; commit(): of the sources, if git knows it.
std::string today();
std::string commit();

}  // namespace syncline

// How far a measured duration is from a scenario's, and what, by itself, would make up the
// difference.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/commands/finding.h"
#include "sim/options/user_input.h"

namespace syncline {

// One of both is known.
struct MeasuredRate {
  std::optional<double> seconds;        // of an iteration
  std::optional<double> samples_per_s;  // of all workers

  // `samples`: of all workers in an iteration.
  double iteration_s(double samples) const;
};

struct MeasuredDuration {
  MeasuredRate rate = {};
  std::uint64_t bytes = 0;  // of an all-reduce alone; 0: iterations of the scenario
};

struct Explained {
  std::uint64_t bytes = 0;  // as MeasuredDuration has it
  double measured_s = 0, scenario_s = 0;
  // Of the same scenario with this `reality`; none: it has no such one.
  std::optional<double> nominal_s, typical_s;
  double samples = 0;  // of all workers, in an iteration
  int workers = 0, nodes = 0;
  std::string exchange;   // that the scenario takes
  double fixed_part = 0;  // of an all-reduce alone: latencies and step-overheads
  // Samples/s in which 90 % of published measurements of such scenarios lie.
  std::optional<double> prediction_low, prediction_high;
  std::vector<Finding> causes;  // the likeliest first; empty: measured no longer than the scenario

  double times() const { return measured_s / scenario_s; }
  // Most of an all-reduce of so few bytes are latencies; else bytes / bandwidth are.
  bool shows_latency() const { return fixed_part > 0.5; }
  // Samples/s, or bytes/s of bus bandwidth; and in words.
  double rate(double seconds) const;
  std::string shown(double seconds) const;
};

// Of each measurement. What would make one as long is no cause of it where the others were too
// short for that. Throws std::runtime_error or std::invalid_argument, one line.
std::vector<Explained> explanations_of(const std::vector<Section>& sections,
                                       const std::vector<MeasuredDuration>& all, int at_once);

}  // namespace syncline

// What somebody measured, beside a scenario.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/options/user_input.h"

namespace syncline {

// One of the two is known.
struct MeasuredRate {
  std::optional<double> samples_per_s;  // of all workers
  std::optional<double> seconds;        // of an iteration

  double iteration_s(double samples) const;  // if an iteration has these samples
};

// "6679", "153ms" or "0.153s". Throws std::invalid_argument of one line.
MeasuredRate measured_rate(const std::string& text);

// Prints what would explain the difference between what was measured and the scenario, which must
// be one cell. `at_once`: processes.
int explain_measured(std::vector<Section> sections, const MeasuredRate& measured, bool json,
                     int at_once);

}  // namespace syncline

// What would be measured: published measurements over what is simulated for them from data sheets.
#pragma once

#include <span>
#include <string>

#include "sim/result.h"
#include "sim/scenario.h"

namespace syncline {

// Of the published measurements whose simulated throughput is this part of perfect scaling, 90 %
// had between `low` and `high` times the simulated throughput, half of them at least `middle`.
struct MeasuredParts {
  double efficiency_above;  // and up to that of the next row
  double low, middle, high;
  int measurements, folders;
};

// By efficiency, from 0; measured over nominal throughput or, with straggling, over typical one.
// experiments/validation/prediction.py makes the numbers and tests them on folders that are left
// out.
std::span<const MeasuredParts> measured_parts(const Scenario& scenario);

// Throughput over that of as many workers without a network. With a sharded optimizer or recomputed
// activations these are workers that do so, too.
double share_of_perfect_scaling(const Scenario& scenario, const Figures& figures);

// Sets the interval in which 90 % of such measurements lie. None: one worker, whose throughput is
// an input.
void add_prediction(const Scenario& scenario, Figures& figures);

// "862 to 4,832 samples/s"; empty: there is no interval.
std::string prediction_shown(const Figures& figures);

}  // namespace syncline

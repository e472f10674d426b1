#include "sim/report/prediction.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "sim/report/readable.h"
#include "sim/schedule.h"

namespace syncline {
namespace {

constexpr std::array<MeasuredParts, 4> nominal{{
    // prediction.py writes nominal from here
    {0, 0.109, 0.546, 1.1, 112, 8},
    {0.5, 0.182, 0.698, 1.02, 44, 8},
    {0.8, 0.413, 0.9, 1.08, 142, 11},
    {0.95, 0.68, 0.942, 1.02, 474, 15},
    // to here
}};
constexpr std::array<MeasuredParts, 4> typical{{
    // prediction.py writes typical from here
    {0, 0.112, 0.634, 1.11, 108, 8},
    {0.47, 0.165, 0.713, 1.07, 47, 8},
    {0.75, 0.463, 0.877, 1.14, 97, 10},
    {0.89, 0.729, 0.978, 1.07, 520, 14},
    // to here
}};

}  // namespace

std::span<const MeasuredParts> measured_parts(const Scenario& scenario) {
  return scenario.straggling > 0 ? typical : nominal;
}

double share_of_perfect_scaling(const Scenario& scenario, const Figures& figures) {
  return scenario.schedule->sharding != nullptr || figures.recomputed > 0
             ? figures.compute_s / figures.iteration_mean_s
             : figures.scaling_efficiency;
}

void add_prediction(const Scenario& scenario, Figures& figures) {
  if (figures.worker_count < 2)
    return;
  const double efficiency = share_of_perfect_scaling(scenario, figures);
  const std::span<const MeasuredParts> parts = measured_parts(scenario);
  // The last row that begins below; the first one has all that no other has.
  const MeasuredParts& row = *std::prev(std::ranges::lower_bound(
      parts.begin() + 1, parts.end(), efficiency, {}, &MeasuredParts::efficiency_above));
  figures.prediction_low_samples_per_s = row.low * figures.throughput_samples_per_s;
  figures.prediction_high_samples_per_s = row.high * figures.throughput_samples_per_s;
}

std::string prediction_shown(const Figures& figures) {
  const std::optional<double>& low = figures.prediction_low_samples_per_s;
  const std::optional<double>& high = figures.prediction_high_samples_per_s;
  return low && high ? count_shown(*low) + " to " + count_shown(*high) + " samples/s" : "";
}

}  // namespace syncline

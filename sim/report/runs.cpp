#include "sim/report/runs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "sim/report/result.h"
#include "sim/report/shown.h"
#include "sim/window.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

constexpr double Report::*means[] = {
    &Report::throughput,       &Report::halves_differ,   &Report::scaling_efficiency,
    &Report::iteration_mean_s, &Report::compute_s,       &Report::compress_s,
    &Report::exposed_s,        &Report::waiting_s,       &Report::bytes_sent,
    &Report::bytes_received,   &Report::bound_compute_s, &Report::bound_link_s,
    &Report::run_iteration_s};
constexpr double Staleness::*stale_means[] = {&Staleness::gradients_mean, &Staleness::updates_mean,
                                              &Staleness::iterations_mean};

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Runs that differ by far more than their own intervals say have found different ways to go on, and
// keep to them. `halves`: half their own intervals, as parts.
bool shows_modes(const std::vector<double>& values, const std::vector<double>& halves) {
  constexpr double worth_saying = 0.02;
  constexpr double far = 3;  // standard deviations for one
  const double mean = mean_of(values);
  double between = 0;
  double within = 0;
  for (std::size_t run = 0; run < values.size(); ++run) {
    between += std::pow(values[run] / mean - 1, 2) / static_cast<double>(values.size() - 1);
    within += std::pow(halves[run] / 2, 2) / static_cast<double>(values.size());
  }
  return between > far * far * within && std::sqrt(between) > worth_saying;
}

}  // namespace

Json run_figures(const Report& report) {
  Json figures = Json::array();
  for (const auto member : means)
    figures.push_back(report.*member);
  for (const auto member : stale_means)
    figures.push_back(report.staleness.*member);
  figures.push_back(report.throughput_interval.value_or(-1));
  return figures;
}

void take_means(Report& report, const std::vector<Json>& other_runs) {
  if (other_runs.empty())
    return;
  std::vector<Json> runs{run_figures(report)};
  runs.insert(runs.end(), other_runs.begin(), other_runs.end());
  const auto column = [&](std::size_t figure) {
    std::vector<double> values;
    for (const Json& run : runs)
      values.push_back(run[figure]);
    return values;
  };
  std::size_t figure = 0;
  for (const auto member : means)
    report.*member = mean_of(column(figure++));
  for (const auto member : stale_means)
    report.staleness.*member = mean_of(column(figure++));

  report.throughput_of_runs = column(0);
  const std::vector<double>& values = report.throughput_of_runs;
  double squares = 0;
  for (const double value : values)
    squares += std::pow(value - report.throughput, 2);
  const auto count = static_cast<double>(values.size());
  const double of_chance =
      student(values.size()) * std::sqrt(squares / (count - 1) / count) / report.throughput;
  // Runs that all become slower, or faster, have not come to where longer ones end.
  report.throughput_interval = std::hypot(of_chance, report.halves_differ);

  if (std::abs(report.halves_differ) <= agreeing_halves)  // of the mean
    std::erase_if(report.warnings,
                  [](const std::string& warning) { return warning.starts_with("not steady"); });
  const std::vector<double> own = column(figure);
  if (std::ranges::min(own) < 0 || !shows_modes(values, own))
    return;
  std::string text;
  for (const double value : values)
    text += (text.empty() ? "" : ", ") + count_shown(value);
  report.warnings.push_back(
      "modes: runs that differ in their seed alone have " + text +
      " samples/s, further apart than each by itself says: they keep to ways "
      "of their own, or are too short to leave them; the interval is of their "
      "mean, and a run of yours has one of them");
}

int runs_in(const Json& result) {
  return result["figures"].value("runs", 1);
}

std::string runs_shown(int runs) {
  return std::to_string(runs) + (runs == 1 ? " run" : " runs");
}

std::string how_simulated(const std::vector<Json>& results) {
  std::map<std::string, int> cells;  // by fidelity and runs
  for (const Json& result : results)
    ++cells[fidelity_of(result) + ", " + runs_shown(runs_in(result))];
  if (cells.size() == 1)
    return cells.begin()->first;
  std::string text;
  for (const auto& [how, count] : cells)
    text += (text.empty() ? "" : "; ") + how + " (" + std::to_string(count) +
            (count == 1 ? " cell)" : " cells)");
  return text;
}

}  // namespace syncline

#include "sim/report/runs.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <map>

#include "sim/report/figures.h"
#include "sim/report/readable.h"
#include "sim/report/report.h"
#include "sim/window.h"

namespace syncline {
namespace {

// Runs that differ by far more than their own intervals say have found different ways to go on, and
// keep to them. `halves`: half their own intervals, as parts.
bool shows_modes(const std::vector<double>& values,
                 const std::vector<std::optional<double>>& halves) {
  if (!std::ranges::all_of(halves, &std::optional<double>::has_value))
    return false;
  constexpr double worth_saying = 0.02;
  constexpr double far = 3;  // standard deviations for one
  const double mean = mean_of(values);
  double between = 0;
  double within = 0;
  for (std::size_t run = 0; run < values.size(); ++run) {
    between += std::pow(values[run] / mean - 1, 2) / static_cast<double>(values.size() - 1);
    within += std::pow(*halves[run] / 2, 2) / static_cast<double>(values.size());
  }
  return between > far * far * within && std::sqrt(between) > worth_saying;
}

}  // namespace

double interval_of_runs(const std::vector<double>& runs,
                        const std::vector<std::optional<double>>& own, double halves_differ) {
  const double mean = mean_of(runs);
  double squares = 0;
  for (const double run : runs)
    squares += std::pow(run - mean, 2);
  const auto count = static_cast<double>(runs.size());
  const double of_chance = student(runs.size()) * std::sqrt(squares / (count - 1) / count) / mean;
  // A few runs may be near one another by chance, nearer than what each saw of itself.
  double own_squares = 0;
  for (const std::optional<double>& one : own)
    own_squares += std::pow(one.value_or(0) / static_cast<double>(own.size()), 2);
  const bool known = std::ranges::all_of(own, &std::optional<double>::has_value);
  // Runs that all become slower, or faster, have not come to where longer ones end.
  return std::hypot(std::max(of_chance, known ? std::sqrt(own_squares) : 0), halves_differ);
}

void take_means(Figures& figures, const std::vector<Figures>& other_runs) {
  if (other_runs.empty())
    return;
  std::vector<Figures> runs{figures};
  runs.insert(runs.end(), other_runs.begin(), other_runs.end());
  const auto column = [&](double Figures::*member) {
    std::vector<double> values;
    for (const Figures& run : runs)
      values.push_back(run.*member);
    return values;
  };
  for (const Figure& figure : figure_rows())
    if (figure.has(Figure::mean)) {
      const auto member = std::get<double Figures::*>(std::get<0>(figure.member));
      figures.*member = mean_of(column(member));
    }

  figures.runs = static_cast<std::int64_t>(runs.size());
  figures.throughput_of_runs = column(&Figures::throughput_samples_per_s);
  const std::vector<double>& values = figures.throughput_of_runs;
  std::vector<std::optional<double>> own;
  for (const Figures& run : runs)
    own.push_back(run.throughput_interval);
  figures.throughput_interval = interval_of_runs(values, own, figures.halves_differ);

  if (!is_unsteady(figures))  // the mean of them
    std::erase_if(figures.warnings,
                  [](const std::string& warning) { return warning.starts_with("not steady"); });
  if (!shows_modes(values, own))
    return;
  std::vector<std::string> shown;
  std::ranges::transform(values, std::back_inserter(shown), count_shown);
  figures.warnings.push_back(fmt::format(
      "modes: runs that differ in their seed alone have {} samples/s, further apart than each by "
      "itself says: they keep to ways of their own, or are too short to leave them; the interval "
      "is "
      "of their mean, and a run of yours has one of them",
      fmt::join(shown, ", ")));
}

std::string runs_shown(std::int64_t runs) {
  return std::to_string(runs) + (runs == 1 ? " run" : " runs");
}

std::string how_simulated(const std::vector<Result>& results) {
  std::map<std::string, int> cells;  // by fidelity and runs
  for (const Result& result : results)
    ++cells[result.provenance.fidelity + ", " + runs_shown(result.figures.runs)];
  if (cells.size() == 1)
    return cells.begin()->first;
  std::vector<std::string> parts;
  for (const auto& [how, count] : cells)
    parts.push_back(fmt::format("{} ({} {})", how, count, count == 1 ? "cell" : "cells"));
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace syncline

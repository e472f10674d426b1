#include "sim/report/runs.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <map>

#include "kernels/io/text.h"
#include "sim/report/figures.h"
#include "sim/report/readable.h"
#include "sim/report/report.h"

namespace syncline {
namespace {

// Whether the runs differ by far more than their own intervals say: they have then found different
// modes, and stay in them. `halves`: half their own intervals, as parts.
bool shows_modes(const std::vector<double>& values,
                 const std::vector<std::optional<double>>& halves) {
  if (!std::ranges::all_of(halves, &std::optional<double>::has_value))
    return false;
  constexpr double worth_saying = 0.02;
  constexpr double far = 3;  // standard deviations of a single run
  const double mean = mean_of(values);
  double between = 0;
  double within = 0;
  for (std::size_t run = 0; run < values.size(); ++run) {
    between += std::pow(values[run] / mean - 1, 2) / static_cast<double>(values.size() - 1);
    within += std::pow(*halves[run] / 2, 2) / static_cast<double>(values.size());
  }
  return between > far * far * within && std::sqrt(between) > worth_saying;
}

// Half the 95 % interval of the mean of independent values, as a part of the mean.
double interval_of_mean(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values)
    squares += std::pow(value - mean, 2);
  const auto count = static_cast<double>(values.size());
  return student(values.size()) * std::sqrt(squares / (count - 1) / count) / mean;
}

// The mean square of the iterations by which the places of two workers, relative to one another,
// move in `seconds` of the window.
double moved_apart(const std::vector<std::vector<Progress>>& each, const Window& window,
                   double seconds) {
  constexpr int looks = 40;
  const auto count = static_cast<double>(each.size());
  double squares = 0;
  for (int look = 0; look < looks; ++look) {
    const double from_s =
        window.from_s + look * (window.to_s - window.from_s - seconds) / (looks - 1);
    std::vector<double> moved;
    for (const std::vector<Progress>& worker : each)
      moved.push_back(iterations_in(worker, {.from_s = from_s, .to_s = from_s + seconds}));
    const double mean = mean_of(moved);
    for (const double own : moved)
      squares += (own - mean) * (own - mean) / (count - 1);
  }
  return 2 * squares / looks;  // a difference of two values has twice the variance of one
}

}  // namespace

std::optional<double> interval_of_one_run(const std::vector<Progress>& workers, Window window) {
  constexpr double forgotten = 0.4 * 0.4;
  // In iterations, squared: below this, workers are kept together.
  constexpr double rounding = 1e-9;
  // How much farther places may move in twice the time if they stay; random moves: twice as far.
  constexpr double stays = 1.3;
  constexpr int batches = 5;
  std::vector<std::vector<Progress>> each;
  for (const Progress& worker : workers) {
    each.push_back({worker});
    if (!worker.counted_s.empty())
      // The worker counts nothing later.
      window.to_s = std::min(window.to_s, worker.counted_s.back());
  }
  const std::optional<double> interval = stated_interval_of(workers, window);
  if (!interval || workers.size() < 2)
    return interval;
  const double batch_s = (window.to_s - window.from_s) / batches;
  const double moved = moved_apart(each, window, batch_s);
  if (moved >= forgotten || moved < rounding ||
      moved <= stays * moved_apart(each, window, batch_s / 2))
    return interval;
  std::vector<double> seen;
  for (int batch = 0; batch < batches; ++batch) {
    const double from_s = window.from_s + batch * batch_s;
    seen.push_back(iterations_in(workers, {.from_s = from_s, .to_s = from_s + batch_s}));
  }
  // Number of batches after which places are forgotten. In a random walk, means of neighbouring
  // batches differ by 2/3 of the variance of batches that far apart, and the window has fewer than
  // five such batches.
  const double until_forgotten = forgotten / moved;
  const double unseen = 1.5 * until_forgotten * std::min(until_forgotten, 1.0 * batches);
  const double wider = std::max(*interval, std::sqrt(unseen) * interval_of_mean(seen));
  return wider < 1 ? std::optional(wider) : std::nullopt;
}

double interval_of_runs(const std::vector<double>& runs,
                        const std::vector<std::optional<double>>& own, double halves_differ) {
  const double of_chance = interval_of_mean(runs);
  // A few runs may be nearer to one another by chance than each run's own interval says.
  double own_squares = 0;
  for (const std::optional<double>& one : own)
    own_squares += std::pow(one.value_or(0) / static_cast<double>(own.size()), 2);
  const bool known = std::ranges::all_of(own, &std::optional<double>::has_value);
  // Runs that all become slower, or all faster, have not reached the speed of longer runs.
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

  // The warning is about the mean of all runs, not about the first.
  std::erase_if(figures.warnings,
                [](const Warning& warning) { return warning.kind == WarningKind::unsteady; });
  if (is_unsteady(figures))
    figures.warnings.push_back(unsteady_warning(figures));
  if (!shows_modes(values, own))
    return;
  std::vector<std::string> shown;
  std::ranges::transform(values, std::back_inserter(shown), count_shown);
  figures.warnings.push_back(fmt::format(
      "modes: runs that differ only in their seed have {} samples/s, further apart than the "
      "interval of each: each run keeps to a mode of its own, or is too short to leave it; the "
      "interval is of their mean, but a real run has only one of these modes",
      fmt::join(shown, ", ")));
}

std::string how_simulated(const std::vector<Result>& results) {
  std::map<std::string, int> cells;  // by fidelity and runs
  for (const Result& result : results)
    ++cells[result.provenance.fidelity + ", " + counted(result.figures.runs, "run")];
  if (cells.size() == 1)
    return cells.begin()->first;
  std::vector<std::string> parts;
  for (const auto& [how, count] : cells)
    parts.push_back(fmt::format("{} ({})", how, counted(count, "cell")));
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace syncline

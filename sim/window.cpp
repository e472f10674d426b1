#include "sim/window.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

namespace syncline {
namespace {

constexpr int interval_batches = 20;

// A worker's iterations until this time, with the part of the one that goes on.
double iterations_until(const Progress& worker, double time_s) {
  const auto next = std::ranges::upper_bound(worker.counted_s, time_s);
  const auto done = static_cast<double>(next - worker.counted_s.begin());
  const double began_s = next == worker.counted_s.begin() ? worker.start_s : *std::prev(next);
  if (next == worker.counted_s.end() || time_s <= began_s)
    return done;
  return done + (time_s - began_s) / (*next - began_s);
}

// Iterations of all workers in each of so many equal parts of the window.
std::vector<double> in_batches(const std::vector<Progress>& workers, const Window& window,
                               int batches) {
  std::vector<double> until(static_cast<std::size_t>(batches) + 1);
  for (std::size_t i = 0; i < until.size(); ++i) {
    const double part = static_cast<double>(i) / batches;
    const double time_s = window.from_s + part * (window.to_s - window.from_s);
    for (const Progress& worker : workers)
      until[i] += iterations_until(worker, time_s);
  }
  std::adjacent_difference(until.begin(), until.end(), until.begin());
  until.erase(until.begin());
  return until;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

std::vector<Progress> progress_of(const Trace& trace) {
  std::vector<Progress> workers(static_cast<std::size_t>(trace.workers));
  const std::string_view counts = trace.in_step ? "step" : "apply";
  for (const Row& row : trace.rows) {
    if (row.verb == "forward" && row.iteration == 0)
      workers[static_cast<std::size_t>(row.rank)].start_s = row.start_s;
    if (row.verb != counts)
      continue;
    const int about = trace.in_step ? row.rank : row.worker;
    std::vector<double>& counted_s = workers[static_cast<std::size_t>(about)].counted_s;
    const auto iteration = static_cast<std::size_t>(row.iteration);
    if (counted_s.size() <= iteration)
      counted_s.resize(iteration + 1);
    counted_s[iteration] = std::max(counted_s[iteration], row.end_s);
  }
  for (Progress& worker : workers)
    std::ranges::sort(worker.counted_s);
  return workers;
}

Window window_after(const std::vector<Progress>& workers, int warmup) {
  Window window{.from_s = 0, .to_s = std::numeric_limits<double>::infinity()};
  for (const Progress& worker : workers) {
    const auto warm = static_cast<std::size_t>(warmup);
    if (worker.counted_s.size() < std::max<std::size_t>(warm, 1))
      return {.from_s = 0, .to_s = 0, .warm = false};
    window.from_s = std::max(window.from_s, warm > 0 ? worker.counted_s[warm - 1] : worker.start_s);
    window.to_s = std::min(window.to_s, worker.counted_s.back());
  }
  if (window.from_s >= window.to_s)
    return {.from_s = 0, .to_s = window.to_s, .warm = false};
  return window;
}

std::optional<Window> settled(const std::vector<Progress>& workers, const Window& window) {
  constexpr int batches = 40;
  constexpr double rounding = 1e-12;  // of the squared mean
  const std::vector<double> values = in_batches(workers, window, batches);
  int best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (int dropped = 0; dropped <= batches / 2; ++dropped) {
    const std::vector<double> rest(values.begin() + dropped, values.end());
    const double mean = mean_of(rest);
    double squares = 0;
    for (const double value : rest)
      squares += (value - mean) * (value - mean);
    const auto count = static_cast<double>(rest.size());
    const double error = squares / count / count + rounding * mean * mean;
    if (error < least) {
      least = error * (1 - 1e-9);
      best = dropped;
    }
  }
  if (best == batches / 2)
    return std::nullopt;
  const double from_s =
      window.from_s + static_cast<double>(best) / batches * (window.to_s - window.from_s);
  return Window{.from_s = from_s, .to_s = window.to_s};
}

double iterations_in(const std::vector<Progress>& workers, const Window& window) {
  return in_batches(workers, window, 1).front();
}

double part_in(const Progress& worker, std::size_t iteration, const Window& window) {
  const double began_s = iteration == 0 ? worker.start_s : worker.counted_s[iteration - 1];
  const double ended_s = worker.counted_s[iteration];
  if (ended_s <= began_s)
    return ended_s > window.from_s && ended_s <= window.to_s ? 1 : 0;
  const double inside_s = std::min(ended_s, window.to_s) - std::max(began_s, window.from_s);
  return std::max(0.0, inside_s / (ended_s - began_s));
}

std::optional<Window> in_whole_periods(const Window& window, double period_s) {
  if (period_s <= 0)
    return std::nullopt;
  const double batch_s =
      std::floor((window.to_s - window.from_s) / (interval_batches * period_s)) * period_s;
  if (batch_s == 0)
    return std::nullopt;
  return Window{.from_s = window.to_s - interval_batches * batch_s, .to_s = window.to_s};
}

std::optional<double> interval_of(const std::vector<Progress>& workers, const Window& window) {
  constexpr double student = 2.093;  // 97.5 % of Student's t with 19 degrees of freedom
  const std::vector<double> values = in_batches(workers, window, interval_batches);
  const double mean = mean_of(values);
  if (mean < static_cast<double>(workers.size()) * (1 - 1e-9))
    return std::nullopt;
  double squares = 0;
  double products = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    squares += (values[i] - mean) * (values[i] - mean);
    if (i > 0)
      products += (values[i] - mean) * (values[i - 1] - mean);
  }
  if (squares == 0)
    return 0;
  // The variance of the mean of a first-order autoregressive series.
  const double alike = std::clamp(products / squares, 0.0, 0.9);
  const double wider = std::sqrt((1 + alike) / (1 - alike));
  return student * wider * std::sqrt(squares / (interval_batches - 1) / interval_batches) / mean;
}

double halves_differ(const std::vector<Progress>& workers, const Window& window) {
  const std::vector<double> halves = in_batches(workers, window, 2);
  return (halves[1] - halves[0]) / mean_of(halves);
}

Measured::Measured(const Trace& trace, const std::vector<Progress>& workers)
    : in_step_(trace.in_step), window_(trace.window) {
  if (!in_step_) {
    iterations_ = iterations_in(workers, window_);
    return;
  }
  // Of the first worker, as of all: nobody ends an iteration before all have begun it.
  const Progress& worker = workers.front();
  const auto first = std::ranges::upper_bound(worker.counted_s, window_.from_s);
  first_ = static_cast<int>(first - worker.counted_s.begin());
  const auto last = std::ranges::lower_bound(worker.counted_s, window_.to_s);
  end_ =
      static_cast<int>(last - worker.counted_s.begin()) + (last == worker.counted_s.end() ? 0 : 1);
  iterations_ = static_cast<double>(workers.size()) * (end_ - first_);
}

double Measured::part(const Row& row) const {
  if (in_step_)
    return row.iteration >= first_ && row.iteration < end_ ? 1 : 0;
  if (row.end_s == row.start_s)
    return row.end_s > window_.from_s && row.end_s <= window_.to_s ? 1 : 0;
  const double inside = std::min(row.end_s, window_.to_s) - std::max(row.start_s, window_.from_s);
  return std::max(0.0, inside / (row.end_s - row.start_s));
}

bool Measured::has_iteration(int iteration, double start_s, double end_s) const {
  if (in_step_)
    return iteration >= first_ && iteration < end_;
  const double middle_s = (start_s + end_s) / 2;
  return middle_s >= window_.from_s && middle_s < window_.to_s;
}

}  // namespace syncline

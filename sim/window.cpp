#include "sim/window.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

namespace syncline {
namespace {

constexpr int interval_batches = 20;

// A worker's iterations until this time, with the fraction of the current one.
double iterations_until(const Progress& worker, double time_s) {
  const auto next = std::ranges::upper_bound(worker.counted_s, time_s);
  const double began_s = next == worker.counted_s.begin() ? worker.start_s : *std::prev(next);
  const auto goes_on = static_cast<std::size_t>(next - worker.counted_s.begin());
  const double part = next == worker.counted_s.end() || time_s <= began_s
                          ? 0
                          : (time_s - began_s) / (*next - began_s);
  if (worker.applied.empty())
    return static_cast<double>(goes_on) + part;
  const double before = goes_on == 0 ? 0 : worker.applied[goes_on - 1];
  return part == 0 ? before : before + part * (worker.applied[goes_on] - before);
}

// Iterations of all workers in each of `batches` equal parts of the window.
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

// Half the 95 % interval of the mean of these values, as a part of the mean, for a first-order
// autoregressive series.
double interval_of_series(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double squares = 0;
  double products = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    squares += (values[i] - mean) * (values[i] - mean);
    if (i > 0)
      products += (values[i] - mean) * (values[i - 1] - mean);
  }
  if (squares == 0)
    return 0;
  const double alike = std::clamp(products / squares, 0.0, 0.9);
  const double wider = std::sqrt((1 + alike) / (1 - alike));
  const auto count = static_cast<double>(values.size());
  return student(values.size()) * wider * std::sqrt(squares / (count - 1) / count) / mean;
}

// As interval_of_series(), for values that are independent.
double spread_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values)
    squares += (value - mean) * (value - mean);
  const auto count = static_cast<double>(values.size());
  return student(values.size()) * std::sqrt(squares / (count - 1) / count) / mean;
}

// Seconds of the rounds in the window, which begins and ends with a round.
std::vector<double> rounds_in(const Progress& pace, const Window& window) {
  std::vector<double> rounds;
  double began_s = window.from_s;
  for (const double ended_s : pace.counted_s)
    if (ended_s > window.from_s && ended_s <= window.to_s)
      rounds.push_back(ended_s - std::exchange(began_s, ended_s));
  return rounds;
}

// When the last iteration counts of the worker that ends first.
double first_last_counted_s(const std::vector<Progress>& workers) {
  double first_s = std::numeric_limits<double>::infinity();
  for (const Progress& worker : workers)
    if (!worker.counted_s.empty())
      first_s = std::min(first_s, worker.counted_s.back());
  return first_s;
}

}  // namespace

void Progress::count(double now_s, double part) {
  if (part < 1 && applied.empty())
    for (std::size_t i = 0; i < counted_s.size(); ++i)
      applied.push_back(static_cast<double>(i + 1));
  if (part < 1 || !applied.empty())
    applied.push_back((applied.empty() ? 0 : applied.back()) + part);
  counted_s.push_back(now_s);
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<Progress> progress_of(const Trace& trace) {
  // When an iteration counted, and how many of its parts were applied or dropped.
  struct Iteration {
    double counted_s = 0;
    int applied = 0;
    int dropped = 0;
  };
  std::vector<Progress> workers(static_cast<std::size_t>(trace.workers));
  std::vector<std::vector<Iteration>> all(workers.size());
  // By rank of a node's aggregator.
  std::vector<std::vector<double>> answered_s(trace.rank_names.size());
  std::vector<bool> begun(workers.size());
  const Verb counts = trace.counts_steps() ? Verb::step : Verb::apply;
  for (const Row& row : trace.rows) {
    // An iteration begins with its first row: forward, or, where iterations count at steps, the
    // wait before it.
    if (row.iteration == 0 && row.rank < trace.workers && row.stream == Stream::compute &&
        (trace.counts_steps() || row.verb != Verb::wait) &&
        !begun[static_cast<std::size_t>(row.rank)]) {
      begun[static_cast<std::size_t>(row.rank)] = true;
      workers[static_cast<std::size_t>(row.rank)].start_s = row.start_s;
    }
    const bool dropped = row.verb == Verb::drop;
    if (row.rank < trace.workers &&
        (row.stream == Stream::compute || (!trace.in_step && row.verb == Verb::pull))) {
      double& ended_s = workers[static_cast<std::size_t>(row.rank)].ended_s;
      ended_s = std::max(ended_s, row.end_s);
    }
    if (row.verb == Verb::parameters && row.bytes_received > 0)
      answered_s[static_cast<std::size_t>(row.rank)].push_back(row.end_s);
    if ((row.verb != counts && !dropped) || row.iteration < 0)
      continue;
    const int about = trace.counts_steps() ? row.rank : row.worker;
    std::vector<Iteration>& iterations = all[static_cast<std::size_t>(about)];
    const auto iteration = static_cast<std::size_t>(row.iteration);
    if (iterations.size() <= iteration)
      iterations.resize(iteration + 1);
    iterations[iteration].counted_s = std::max(iterations[iteration].counted_s, row.end_s);
    ++(dropped ? iterations[iteration].dropped : iterations[iteration].applied);
  }
  for (std::size_t worker = 0; worker < workers.size(); ++worker) {
    std::ranges::stable_sort(all[worker], {}, &Iteration::counted_s);
    for (const Iteration& iteration : all[worker])
      workers[worker].count(iteration.counted_s, iteration.dropped == 0
                                                     ? 1
                                                     : static_cast<double>(iteration.applied) /
                                                           (iteration.applied + iteration.dropped));
    if (trace.in_step || workers[worker].counted_s.empty() || worker >= trace.node_of.size())
      continue;
    // The worker's node has the answer to its last gradient.
    const auto node =
        static_cast<std::size_t>(trace.workers + trace.servers + trace.node_of[worker]);
    if (node < answered_s.size())
      for (const double end_s : answered_s[node])
        if (end_s >= workers[worker].counted_s.back()) {
          workers[worker].ended_s = std::max(workers[worker].ended_s, end_s);
          break;
        }
  }
  return workers;
}

Window window_after(const std::vector<Progress>& workers, int warmup) {
  Window window{.from_s = 0, .to_s = first_last_counted_s(workers)};
  double begun_s = 0;  // by all
  double ended_s = std::numeric_limits<double>::infinity();
  const auto warm = static_cast<std::size_t>(warmup);
  for (const Progress& worker : workers) {
    begun_s = std::max(begun_s, worker.start_s);
    if (worker.counted_s.size() < std::max<std::size_t>(warm, 1))
      window.warm = false;
    else
      window.from_s = std::max(window.from_s, warm > 0 ? worker.counted_s[warm - 1] : begun_s);
    // A target may be met before a slow worker has counted at all.
    if (!worker.counted_s.empty())
      ended_s = std::min(ended_s, std::max(worker.counted_s.back(), worker.ended_s));
  }
  if (!window.warm || window.from_s >= window.to_s)
    window = {.from_s = begun_s < window.to_s ? begun_s : 0, .to_s = window.to_s, .warm = false};
  if (!window.warm || warm == 0)
    window.to_s = ended_s;
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

FastestAndSlowest between_rounds(const std::vector<Progress>& workers, std::size_t first,
                                 std::size_t last, int round) {
  const auto each = static_cast<std::size_t>(round);
  FastestAndSlowest found{.fastest_s = std::numeric_limits<double>::infinity(), .slowest_s = 0};
  for (const Progress& worker : workers) {
    const double seconds = worker.counted_s[last * each - 1] - worker.counted_s[first * each - 1];
    found.fastest_s = std::min(found.fastest_s, seconds);
    found.slowest_s = std::max(found.slowest_s, seconds);
  }
  return found;
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
  const std::vector<double> values = in_batches(workers, window, interval_batches);
  if (mean_of(values) < static_cast<double>(workers.size()) * (1 - 1e-9))
    return std::nullopt;
  return interval_of_series(values);
}

std::optional<double> stated_interval_of(const std::vector<Progress>& workers,
                                         const Window& window) {
  const std::optional<double> interval = interval_of(workers, window);
  if (!interval)
    return std::nullopt;
  // A slow change makes neighbouring batches alike for longer than 20 short batches can show; a few
  // long batches show it, if less surely.
  return std::max(*interval, spread_of(in_batches(workers, window, 5)));
}

double halves_differ(const std::vector<Progress>& workers, const Window& window) {
  const std::vector<double> halves = in_batches(workers, window, 2);
  return (halves[1] - halves[0]) / mean_of(halves);
}

Progress pace_of(const std::vector<Progress>& workers, int round) {
  const std::size_t iterations = std::ranges::min(workers, {}, [](const Progress& worker) {
                                   return worker.counted_s.size();
                                 }).counted_s.size();
  const auto mean = [&](auto seconds_of) {
    double sum = 0;
    for (const Progress& worker : workers)  // differences keep the mean of equal values exact
      sum += seconds_of(worker) - seconds_of(workers.front());
    return seconds_of(workers.front()) + sum / static_cast<double>(workers.size());
  };
  Progress pace{.start_s = mean([](const Progress& worker) { return worker.start_s; }),
                .counted_s = {},
                .ended_s = mean([](const Progress& worker) { return worker.ended_s; })};
  const auto each = static_cast<std::size_t>(round);
  for (std::size_t last = each; last <= iterations; last += each)
    pace.counted_s.push_back(
        mean([last](const Progress& worker) { return worker.counted_s[last - 1]; }));
  return pace;
}

std::optional<double> interval_of_rounds(const Progress& pace, const Window& window) {
  const std::vector<double> rounds = rounds_in(pace, window);
  if (rounds.size() < static_cast<std::size_t>(least_rounds))
    return std::nullopt;
  return interval_of_series(rounds);
}

double halves_of_rounds_differ(const Progress& pace, const Window& window) {
  const std::vector<double> rounds = rounds_in(pace, window);
  if (rounds.size() < 2)
    return 0;
  const auto middle = rounds.begin() + static_cast<std::ptrdiff_t>(rounds.size() / 2);
  const auto rate_of = [](auto from, auto to) {
    return static_cast<double>(to - from) / std::accumulate(from, to, 0.0);
  };
  const double first = rate_of(rounds.begin(), middle);
  const double second = rate_of(middle, rounds.end());
  return 2 * (second - first) / (second + first);
}

double student(std::size_t samples) {
  constexpr std::array table{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                             2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093};
  if (samples <= table.size() + 1)
    return table[samples - 2];
  // The first terms of the expansion in 1 / degrees of freedom (Fisher 1925), accurate to 0.001
  // here.
  const double per_degree = 1 / static_cast<double>(samples - 1);
  return 1.959964 + per_degree * (2.372271 + per_degree * 2.822499);
}

Certainty certainty_of(const Trace& trace, const std::vector<Progress>& workers) {
  const std::vector<Progress> known =
      trace.in_step ? std::vector{pace_of(workers, trace.round)} : workers;
  Window window = trace.window;
  window.to_s = std::min(window.to_s, first_last_counted_s(known));  // nothing counts later
  // The platform's profiles do not follow rounds.
  if (!trace.in_step || trace.profiles_s > 0)
    return {.interval = stated_interval_of(known, window),
            .halves_differ = halves_differ(known, window)};
  return {.interval = interval_of_rounds(known.front(), window),
          .halves_differ = halves_of_rounds_differ(known.front(), window)};
}

MeasuredWindow::MeasuredWindow(const Trace& trace, const std::vector<Progress>& workers)
    : in_step_(trace.in_step), window_(trace.window), round_(trace.round) {
  if (!in_step_) {
    iterations_ = iterations_in(workers, window_);
    return;
  }
  const Progress pace = pace_of(workers, round_);
  for (std::size_t i = 0; i < pace.counted_s.size(); ++i) {
    parts_.push_back(part_in(pace, i, window_));
    of_each_ += parts_.back() * round_;
  }
  has_end_ = window_.to_s > first_last_counted_s({pace});
  iterations_ = static_cast<double>(workers.size()) * of_each_;
}

double MeasuredWindow::part(const Row& row) const {
  if (in_step_)
    return part_of_iteration(row.iteration);
  if (row.end_s == row.start_s)
    return row.end_s > window_.from_s && row.end_s <= window_.to_s ? 1 : 0;
  const double inside = std::min(row.end_s, window_.to_s) - std::max(row.start_s, window_.from_s);
  return std::max(0.0, inside / (row.end_s - row.start_s));
}

double MeasuredWindow::part_of_iteration(int iteration) const {
  const auto of = static_cast<std::size_t>(iteration / round_);
  return iteration >= 0 && of < parts_.size() ? parts_[of] : 0;
}

bool MeasuredWindow::has_iteration(int iteration, double start_s, double end_s) const {
  if (in_step_)
    return part_of_iteration(iteration) >= 0.5;
  const double middle_s = (start_s + end_s) / 2;
  return middle_s >= window_.from_s && middle_s < window_.to_s;
}

double MeasuredWindow::iterations(const Progress& worker) const {
  return in_step_ ? of_each_ : iterations_in({worker}, window_);
}

std::vector<CountedTime> MeasuredWindow::times_of(const Progress& worker) const {
  std::vector<CountedTime> times;
  const std::size_t each = in_step_ ? static_cast<std::size_t>(round_) : 1;
  const std::size_t count = in_step_ ? parts_.size() : worker.counted_s.size();
  for (std::size_t i = 0; i < count; ++i) {
    const double part = in_step_ ? parts_[i] : part_in(worker, i, window_);
    const double from_s = i == 0 ? worker.start_s : worker.counted_s[i * each - 1];
    double to_s = worker.counted_s[(i + 1) * each - 1];
    if (i + 1 == count && (has_end_ || !in_step_))
      to_s = std::max(to_s, in_step_ ? worker.ended_s : window_.to_s);
    if (part <= 0)
      continue;
    if (!times.empty() && times.back().part == part)
      times.back().to_s = to_s;
    else
      times.push_back({.from_s = from_s, .to_s = to_s, .part = part});
  }
  return times;
}

}  // namespace syncline

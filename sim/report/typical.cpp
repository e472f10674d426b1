#include "sim/report/typical.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "sim/report/readable.h"

namespace syncline {
namespace {

constexpr std::size_t most_iterations = 8;
constexpr std::size_t fewest_of_fastest = 4;
constexpr double near_enough = 0.02;  // as parts of the time
constexpr double as_near = 0.001;
constexpr double too_far = 0.05;
constexpr std::size_t few_iterations = 24;  // of a window that can be shown whole
constexpr double hardly_slower = 1e-6;

// Seconds of all workers: computation, compression, exposed communication, waiting.
using Spent = std::array<double, 4>;

double farthest_share(const Spent& one, const Spent& other) {
  double one_s = 0, other_s = 0, most = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    one_s += one[i];
    other_s += other[i];
  }
  if (one_s <= 0 || other_s <= 0)
    return 1;
  for (std::size_t i = 0; i < one.size(); ++i)
    most = std::max(most, std::abs(one[i] / one_s - other[i] / other_s));
  return most;
}

// When a worker stands still and does not wait; the rest of `blocked` is waiting.
struct StandingStill {
  std::vector<Interval> compressing;  // on another stream
  std::vector<Interval> busy;         // compressing there, or moving bytes

  explicit StandingStill(const WorkerRows& worker)
      : compressing(common(worker.blocked, worker.beside.compression)) {
    std::vector<Interval> both = worker.beside.moving;
    both.insert(both.end(), worker.beside.compression.begin(), worker.beside.compression.end());
    busy = common(worker.blocked, merged(std::move(both)));
  }
};

// Adds the seconds of the intervals to each stretch between two bounds.
void add_each(const std::vector<Interval>& intervals, const std::vector<double>& bounds,
              std::vector<Spent>& sums, std::size_t part, double sign = 1) {
  std::size_t at = 0;
  for (const Interval& one : intervals) {
    while (at + 1 < bounds.size() && bounds[at + 1] <= one.start_s)
      ++at;
    for (std::size_t i = at; i + 1 < bounds.size() && bounds[i] < one.end_s; ++i)
      sums[i][part] += sign * std::max(0.0, std::min(one.end_s, bounds[i + 1]) -
                                                std::max(one.start_s, bounds[i]));
  }
}

// Between each two bounds; what a worker does before or after the window is waiting.
std::vector<Spent> spent_in_each(const std::vector<WorkerRows>& workers,
                                 const std::vector<double>& bounds) {
  std::vector<Spent> sums(bounds.size() - 1);
  for (const WorkerRows& worker : workers) {
    const StandingStill still(worker);
    add_each(worker.computing, bounds, sums, 0);
    add_each(worker.compressing, bounds, sums, 1);
    add_each(still.compressing, bounds, sums, 1);
    add_each(still.busy, bounds, sums, 2);
    add_each(still.compressing, bounds, sums, 2, -1);
  }
  for (std::size_t i = 0; i < sums.size(); ++i)
    sums[i][3] = static_cast<double>(workers.size()) * (bounds[i + 1] - bounds[i]) - sums[i][0] -
                 sums[i][1] - sums[i][2];
  return sums;
}

double cycle_s(const WorkerRows& worker) {
  return worker.counted > 0 ? worker.window_s / worker.counted
                            : std::numeric_limits<double>::infinity();
}

// Seconds of an iteration in which the worker does not wait: most for the worker that others wait
// for.
double busy_s(const WorkerRows& worker) {
  return worker.counted > 0 ? cycle_s(worker) - spent_by(worker, false).waiting_s / worker.counted
                            : cycle_s(worker);
}

// The beginnings of the worker's iterations in the window, and the end of the last one. Of workers
// that are not in step, only whole ones: before the window others may not work yet, and after it no
// more.
std::vector<double> bounds_of(const WorkerRows& worker, const Trace& trace) {
  const Window& window = trace.window;
  std::vector<double> bounds;
  const std::vector<Interval>& all = worker.iterations;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double end_s = i + 1 < all.size() ? all[i + 1].start_s : all[i].end_s;
    const double middle_s = (all[i].start_s + end_s) / 2;
    if (middle_s < window.from_s || middle_s > window.to_s ||
        (!trace.in_step && (all[i].start_s < window.from_s || end_s > window.to_s)))
      continue;
    if (bounds.empty())
      bounds.push_back(all[i].start_s);
    bounds.push_back(end_s);
  }
  return bounds;
}

// Puts the worker in the place of the nearest shown worker, except `kept`.
void show(int worker, int kept, std::vector<int>& shown) {
  int* nearest = nullptr;
  for (int& one : shown)
    if (one != kept && (nearest == nullptr || std::abs(one - worker) < std::abs(*nearest - worker)))
      nearest = &one;
  if (nearest != nullptr)
    *nearest = worker;
  std::ranges::sort(shown);
}

std::vector<int> shown_of(const std::vector<WorkerRows>& workers, double from_s, double to_s,
                          std::size_t most) {
  std::vector<int> all;
  for (std::size_t worker = 0; worker < workers.size(); ++worker)
    all.push_back(static_cast<int>(worker));
  std::vector<int> shown = spread(all, most);
  if (shown.size() == all.size())
    return shown;
  std::vector<double> of_window, of_stretch;
  for (const WorkerRows& worker : workers) {
    of_window.push_back(busy_s(worker));
    const std::vector<Interval> stretch{{from_s, to_s}};
    of_stretch.push_back(overlap_s(StandingStill(worker).busy, stretch) -
                         overlap_s(worker.blocked, stretch));
  }
  int kept = -1;
  for (const std::vector<double>& busy : {of_window, of_stretch}) {
    const auto of = [&](int worker) { return busy[static_cast<std::size_t>(worker)]; };
    const int slowest = *std::ranges::max_element(all, {}, of);
    const int of_shown = *std::ranges::max_element(shown, {}, of);
    const bool is_slower = of(slowest) - of(of_shown) > hardly_slower * (to_s - from_s);
    if (is_slower)
      show(slowest, kept, shown);
    kept = is_slower ? slowest : of_shown;
  }
  return shown;
}

// As the parts of an iteration in the figures: the window may have time before the first and after
// the last stretch that can be shown.
Spent spent_in_window(const std::vector<WorkerRows>& workers) {
  Spent sum{};
  for (const WorkerRows& worker : workers) {
    const SpentSeconds spent = spent_by(worker, false);
    sum[0] += spent.compute_s;
    sum[1] += spent.compress_s;
    sum[2] += spent.exposed_s;
    sum[3] += spent.waiting_s;
  }
  return sum;
}

// The beginning and the end of a typical stretch. Its number of iterations is one of `counts`,
// which are in order. Where none is typical, it is the whole window if that is short.
std::pair<double, double> stretch_of(const std::vector<WorkerRows>& workers, const Window& window,
                                     const std::vector<double>& bounds,
                                     const std::vector<std::size_t>& counts) {
  const Spent of_window = spent_in_window(workers);
  const std::vector<Spent> each = spent_in_each(workers, bounds);
  std::vector<Spent> until(each.size() + 1);  // sums of all before
  for (std::size_t i = 0; i < each.size(); ++i)
    for (std::size_t part = 0; part < each[i].size(); ++part)
      until[i + 1][part] = until[i][part] + each[i][part];
  std::pair<double, double> best{bounds.front(), bounds.back()};
  double least = std::numeric_limits<double>::infinity();
  for (const std::size_t count : counts) {
    std::vector<double> far;  // of the stretches of this length
    for (std::size_t i = 0; i + count <= each.size(); ++i) {
      Spent spent = until[i + count];
      for (std::size_t part = 0; part < spent.size(); ++part)
        spent[part] -= until[i][part];
      far.push_back(farthest_share(spent, of_window));
    }
    if (far.empty() || std::ranges::min(far) > least - as_near)
      continue;
    least = std::ranges::min(far);
    std::size_t nearest = far.size();
    const auto off_middle = [&](std::size_t i) {
      return std::abs(bounds[i] + bounds[i + count] - bounds.front() - bounds.back());
    };
    for (std::size_t i = 0; i < far.size(); ++i)
      if (far[i] <= least + as_near &&
          (nearest == far.size() || off_middle(i) < off_middle(nearest)))
        nearest = i;
    best = {bounds[nearest], bounds[nearest + count]};
    if (least <= near_enough)
      break;
  }
  if (least > too_far && each.size() <= few_iterations)
    return {window.from_s, window.to_s};
  return best;
}

// The possible numbers of iterations of a stretch.
std::vector<std::size_t> counts_of(std::size_t fewest, std::size_t round) {
  std::vector<std::size_t> counts;
  for (std::size_t count = fewest; count <= most_iterations; ++count)
    counts.push_back(count);
  if (round > most_iterations)
    counts.push_back(round);
  return counts;
}

}  // namespace

Typical typical_of(const Trace& trace, const std::vector<WorkerRows>& workers,
                   std::size_t most_workers) {
  const WorkerRows& slowest = *std::ranges::max_element(workers, {}, busy_s);
  const WorkerRows& fastest = *std::ranges::min_element(workers, {}, cycle_s);
  const bool far_apart =
      cycle_s(slowest) > static_cast<double>(fewest_of_fastest) * cycle_s(fastest);
  std::vector<double> bounds = bounds_of(far_apart ? fastest : slowest, trace);
  if (bounds.size() < 2)
    bounds = bounds_of(fastest, trace);
  if (bounds.size() < 2)
    bounds = {trace.window.from_s, trace.window.to_s};
  if (!(bounds.back() > bounds.front()))
    return {};
  const auto [from_s, to_s] = stretch_of(
      workers, trace.window, bounds,
      counts_of(far_apart ? fewest_of_fastest : 1, static_cast<std::size_t>(trace.round)));
  return {from_s, to_s, shown_of(workers, from_s, to_s, most_workers)};
}

}  // namespace syncline

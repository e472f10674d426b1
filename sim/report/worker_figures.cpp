#include "sim/report/worker_figures.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <numeric>
#include <utility>

#include "sim/plan.h"
#include "sim/report/readable.h"

namespace syncline {
namespace {

constexpr double alike = 1e-3;     // of an iteration: tables hardly show less
constexpr double far_apart = 1.5;  // times the iterations of another

// Means of the workers that share a row of the table; those of equal workers are exact.
struct Group {
  int workers = 0;
  double counted = 0;  // iterations
  double window_s = 0;
  SpentSeconds spent;

  void add(const WorkerRows& worker, const SpentSeconds& of_worker) {
    ++workers;
    const auto move = [this](double& mean, double value) { mean += (value - mean) / workers; };
    move(counted, worker.counted);
    move(window_s, worker.window_s);
    move(spent.compute_s, of_worker.compute_s);
    move(spent.compress_s, of_worker.compress_s);
    move(spent.exposed_s, of_worker.exposed_s);
    move(spent.waiting_s, of_worker.waiting_s);
  }

  WorkerFigures figures() const {
    if (counted <= 0)  // the window had ended when they began
      return {};
    return {.name = {},
            .iterations = counted,
            .iteration_mean_s = window_s / counted,
            .compute_s = spent.compute_s / counted,
            .compress_s = spent.compress_s / counted,
            .exposed_communication_s = spent.exposed_s / counted,
            .waiting_s = spent.waiting_s / counted};
  }
};

bool are_alike(const WorkerFigures& one, const WorkerFigures& other) {
  return std::ranges::all_of(
      std::vector{&WorkerFigures::iteration_mean_s, &WorkerFigures::compute_s,
                  &WorkerFigures::compress_s, &WorkerFigures::exposed_communication_s},
      [&](double WorkerFigures::*part) {
        return std::abs(one.*part - other.*part) <= alike * one.iteration_mean_s;
      });
}

double sent_per_iteration(const Trace& trace, const std::vector<WorkerRows>& workers,
                          std::size_t worker) {
  double bytes = 0;
  for (const Row& row : trace.rows)
    if (row.rank == static_cast<int>(worker))
      bytes += static_cast<double>(row.bytes_sent);
  return bytes / static_cast<double>(workers[worker].iterations.size());
}

// "; server 0 runs on its host, ...": if this spares the worker bytes that the other worker pushes.
std::string server_beside(const Trace& trace, const std::vector<WorkerRows>& workers,
                          std::size_t worker, std::size_t other) {
  constexpr double hardly_fewer = 0.9;
  if (std::ranges::find(trace.rows, Verb::push, &Row::verb) == trace.rows.end() ||
      sent_per_iteration(trace, workers, worker) >
          hardly_fewer * sent_per_iteration(trace, workers, other))
    return {};
  for (int server = trace.workers; server < trace.workers + trace.servers; ++server)
    if (static_cast<std::size_t>(server) < trace.on_worker.size() &&
        trace.on_worker[static_cast<std::size_t>(server)] == static_cast<int>(worker))
      return fmt::format("; {} runs on its host, so its pushes there cross no link",
                         trace.rank_names[static_cast<std::size_t>(server)]);
  return {};
}

void keep_some(std::vector<WorkerFigures>& rows) {
  if (rows.size() <= most_worker_rows)
    return;
  std::vector<std::size_t> all(rows.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<std::size_t> kept = spread(all, most_worker_rows);
  const auto longest = static_cast<std::size_t>(
      std::ranges::max_element(rows, {}, &WorkerFigures::compute_s) - rows.begin());
  // The longest row takes the place of the kept row before it, unless it is kept itself.
  *std::prev(std::ranges::upper_bound(kept, longest)) = longest;
  for (std::size_t i = 0; i < kept.size(); ++i)  // no row moves to a later place
    if (kept[i] != i)
      rows[i] = std::move(rows[kept[i]]);
  rows.resize(kept.size());
}

}  // namespace

void add_workers(const Trace& trace, const std::vector<WorkerRows>& workers,
                 const std::vector<SpentSeconds>& spent, Figures& figures) {
  std::vector<Group> groups;
  for (std::size_t w = 0; w < workers.size(); ++w) {
    Group own;
    own.add(workers[w], spent[w]);
    if (groups.empty() || !are_alike(groups.back().figures(), own.figures()))
      groups.push_back(own);
    else
      groups.back().add(workers[w], spent[w]);
  }
  std::size_t first = 0;  // worker of the group
  for (const Group& group : groups) {
    figures.workers.push_back(group.figures());
    std::string& name = figures.workers.back().name;
    name = trace.rank_names[first];
    first += index(group.workers);
    if (group.workers > 1)
      name = fmt::format("{} to {}", name, first - 1);
  }
  keep_some(figures.workers);
  const auto [least, most] = std::ranges::minmax_element(workers, {}, &WorkerRows::counted);
  if (most->counted < far_apart * least->counted)
    return;
  const auto fastest = static_cast<std::size_t>(most - workers.begin());
  const auto slowest = static_cast<std::size_t>(least - workers.begin());
  const std::string& fast = trace.rank_names[fastest];
  const std::string& slow = trace.rank_names[slowest];
  const std::string times = fmt::format("{:.2g}", most->counted / least->counted);
  if (std::ranges::any_of(trace.rows, [](const Row& row) { return row.verb == Verb::drop; }))
    figures.warnings.push_back(
        least->counted > 0
            ? fmt::format("{} times as many iterations of {} count as of {}, whose late gradients "
                          "are dropped",
                          times, fast, slow)
            : fmt::format("no iteration of {} counts: all its gradients are late, and dropped",
                          slow));
  else
    figures.warnings.push_back(
        fmt::format("{} does {} of {}, and samples/s counts them all{}", fast,
                    least->counted > 0 ? times + " times the iterations"
                                       : "iterations in the window, which has none",
                    slow, server_beside(trace, workers, fastest, slowest)));
}

}  // namespace syncline

#include "sim/report/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <utility>

#include "sim/report/learning.h"
#include "sim/report/worker_rows.h"
#include "sim/window.h"

namespace syncline {
namespace {

// The value below which a fraction of the sorted values lies, by the nearest-rank rule.
double percentile(const std::vector<double>& sorted, double fraction) {
  const double rank = std::ceil(fraction * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

std::int64_t updates_in(const Trace& trace) {
  std::int64_t steps = 0;
  std::int64_t updates = 0;
  for (const Row& row : trace.rows)
    if (row.verb == "step" && row.rank == 0 && row.version >= 0)
      steps = std::max(steps, row.version);
    else if (row.verb == "apply" && row.rank == trace.workers && row.bucket <= 0)
      updates = std::max(updates, row.version);
  return updates > 0 ? updates : steps;
}

std::string percent(double fraction) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * fraction);
  return text;
}

// What delays a run, with the figures of whatever else takes a tenth of an iteration or more. A
// link that is busy for longer than the device is the first to make faster, even if most of its
// bytes move while the device computes.
std::string bottleneck_of(const Trace& trace, const std::vector<WorkerRows>& workers,
                          const Report& report) {
  struct Part {
    const char* name;
    double share;
  };
  const double iteration_s = report.iteration_mean_s;
  const Part compute{"computation", report.compute_s / iteration_s};
  const Part compress{"compression", report.compress_s / iteration_s};
  const Part exposed{"communication", report.exposed_s / iteration_s};
  const Part waiting{"waiting", report.waiting_s / iteration_s};
  const double link = report.busiest_links.empty() ? 0 : report.busiest_links.front().utilisation;
  const double busy = compute.share + compress.share;
  const bool stands_still = exposed.share + waiting.share > busy;
  const Part& first = stands_still ? (exposed.share >= waiting.share ? exposed : waiting)
                      : exposed.share >= waiting.share && exposed.share > 0 && link > busy ? exposed
                      : compress.share > compute.share ? compress
                                                       : compute;

  std::string text = std::string(first.name) + ": " + percent(first.share) + " of an iteration";
  if (&first == &exposed)
    text += " stands still for it";
  for (const Part* part : {&compute, &compress, &exposed, &waiting})
    if (part != &first && part->share >= 0.1)
      text += std::string(", ") + part->name + " " + percent(part->share);
  if (&first == &waiting) {
    const auto iteration_compute_s = [](const WorkerRows& worker) {
      return worker.all_compute_s / static_cast<double>(worker.iterations.size());
    };
    const auto slowest = std::ranges::max_element(workers, {}, iteration_compute_s);
    double mean_s = 0;
    for (const WorkerRows& worker : workers)
      mean_s += iteration_compute_s(worker) / static_cast<double>(workers.size());
    char factor[32];
    std::snprintf(factor, sizeof factor, "%.2f", iteration_compute_s(*slowest) / mean_s);
    text += "; the slowest, " +
            trace.rank_names[static_cast<std::size_t>(slowest - workers.begin())] +
            ", computes for " + factor + " times the mean";
  }
  if (!report.busiest_links.empty())
    text += "; the busiest link, " + report.busiest_links.front().name + ", is " + percent(link) +
            " full";
  return text;
}

void add_links(const Trace& trace, double iterations, double all_iterations, Report& report) {
  std::vector<LinkUse> links = trace.links;
  // Of what it can carry in the window. Flows between two ranks may overlap, so that what one flow
  // could carry is no limit to all of them.
  const auto full = [&](const LinkUse& link) {
    const auto part_of = [&](double bytes) {
      return link.bandwidth.part_used(bytes, trace.window.from_s, trace.window.to_s);
    };
    return link.fatpipe ? std::min(1.0, part_of(link.measured_flow_bytes))
                        : part_of(link.measured_bytes);
  };
  std::ranges::sort(links, [&](const LinkUse& a, const LinkUse& b) {
    return full(a) != full(b) ? full(a) > full(b) : a.name < b.name;
  });
  for (std::size_t i = 0; i < std::min<std::size_t>(3, links.size()); ++i)
    report.busiest_links.push_back({.name = links[i].name,
                                    .utilisation = full(links[i]),
                                    .bytes_per_iteration = links[i].measured_bytes / iterations});
  for (const LinkUse& link : links)
    if (!link.fatpipe)
      report.bound_link_s =
          std::max(report.bound_link_s, link.bandwidth.seconds_for(link.bytes) / all_iterations);
}

std::string samples_per_s(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g samples/s", value);
  return text;
}

// What is measured and how well it is known.
void add_window(const Trace& trace, const std::vector<Progress>& progress, const Measured& measured,
                int batch, Report& report) {
  const Window& window = trace.window;
  const double seconds = window.to_s - window.from_s;
  report.window_from_s = window.from_s;
  report.window_to_s = window.to_s;
  report.window_iterations = measured.iterations() / trace.workers;
  const Throughput rate = throughput_of(trace, progress);
  report.throughput = batch * rate.iterations / seconds;
  if (!window.warm)
    report.warnings.emplace_back(
        "the fastest worker had ended before the slowest was warm: figures are from the start");
  if (window.warm && !trace.in_step && report.window_iterations < 2)
    report.warnings.emplace_back(
        "the window has fewer than two iterations per worker, whose ends decide what is in it: "
        "more "
        "iterations say more");
  report.throughput_interval = rate.interval;
  report.halves_differ = rate.halves_differ;
  if (std::abs(report.halves_differ) > agreeing_halves)
    report.warnings.push_back(
        "not steady: " + samples_per_s(report.throughput * (1 - report.halves_differ / 2)) +
        " in the first half of the window, " +
        samples_per_s(report.throughput * (1 + report.halves_differ / 2)) + " in the second");
  if (trace.cut_short)
    report.warnings.emplace_back(
        "max-iterations was reached before the run was steady and throughput known as interval "
        "asks");
  if (seconds < trace.profiles_s) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "the window has %.3g s, but the platform's profiles need %.3g s to show all "
                  "that they do",
                  seconds, trace.profiles_s);
    report.warnings.emplace_back(text);
  }
}

}  // namespace

Report make_report(const Trace& trace, int batch) {
  Report report;
  const std::vector<Progress> progress = progress_of(trace);
  const Measured measured(trace, progress);
  std::vector<WorkerRows> workers = by_worker(trace, measured);
  for (std::size_t w = 0; w < workers.size(); ++w)
    if (!workers[w].compression.empty() && w < trace.one_core.size() && trace.one_core[w])
      split_shared_core_time(workers[w]);
  double all_iterations = 0;  // of the whole run, per worker
  double described = 0;       // iterations of all workers
  for (const WorkerRows& worker : workers) {
    all_iterations += static_cast<double>(worker.iterations.size()) / trace.workers;
    described += worker.described;
    report.iteration_mean_s += worker.described_s;
  }
  report.iteration_mean_s /= described;
  report.workers = trace.workers;
  report.simulated_s = trace.end_s;
  report.flows = trace.flows;

  std::vector<double> durations;
  double alone = 0;  // samples/s
  for (std::size_t w = 0; w < workers.size(); ++w) {
    const WorkerRows& worker = workers[w];
    for (std::size_t i = 0; i < worker.iterations.size(); ++i)
      if (worker.measured[i])
        durations.push_back(worker.iterations[i].end_s - worker.iterations[i].start_s);
    alone += batch * alone_per_s(worker, progress[w], trace.window);
    const double blocked_s = std::accumulate(
        worker.blocked.begin(), worker.blocked.end(), 0.0,
        [](double sum, const Interval& wait) { return sum + wait.end_s - wait.start_s; });
    const double compressing_s = overlap_s(worker.blocked, worker.compression);
    std::vector<Interval> busy = worker.moving;
    busy.insert(busy.end(), worker.compression.begin(), worker.compression.end());
    const double exposed_s = overlap_s(worker.blocked, std::move(busy)) - compressing_s;
    report.compute_s += worker.compute_s / described;
    report.compress_s += (worker.compress_s + compressing_s) / described;
    report.exposed_s += exposed_s / described;
    const double waiting_s = blocked_s - exposed_s - compressing_s;
    report.waiting_s += waiting_s > 1e-9 * blocked_s ? waiting_s / described : 0;  // else rounding
    report.bound_compute_s =
        std::max(report.bound_compute_s, worker.all_compute_s / all_iterations);
  }
  std::ranges::sort(durations);
  report.iteration_p50_s = percentile(durations, 0.5);
  report.iteration_p99_s = percentile(durations, 0.99);
  add_window(trace, progress, measured, batch, report);
  // What is applied in the window may have been computed before it.
  report.scaling_efficiency = std::min(report.throughput / alone, 1.0);

  for (const Row& row : trace.rows)  // aggregators send on behalf of their workers
    if (row.rank < trace.workers || row.rank >= trace.workers + trace.servers) {
      const double part = measured.part(row) / measured.iterations();
      report.bytes_sent += static_cast<double>(row.bytes_sent) * part;
      report.bytes_received += static_cast<double>(row.bytes_received) * part;
    }
  add_links(trace, report.window_iterations, all_iterations, report);
  report.staleness = staleness_of(trace, trace.window.from_s, trace.window.to_s);
  report.updates = updates_in(trace);
  report.bottleneck = bottleneck_of(trace, workers, report);

  report.learned = trace.learned;
  if (report.learned && report.learned->diverged_s)
    report.warnings.push_back(divergence_warning(*report.learned->diverged_s));
  if (const int without = report.learned ? report.learned->workers_without_samples : 0; without > 0)
    report.warnings.push_back(
        "skew leaves " + std::to_string(without) + " of " + std::to_string(trace.workers) +
        " workers without samples: each computes all its gradients on one sample of another's");
  report.run_iteration_s = trace.end_s / all_iterations;
  const double bound_s = std::max(report.bound_compute_s, report.bound_link_s);
  if (report.run_iteration_s < bound_s * (1 - 1e-6))
    report.warnings.push_back("an iteration took " + std::to_string(report.run_iteration_s) +
                              " s, less than its lower bound of " + std::to_string(bound_s) +
                              " s: this is a bug, please report it");
  // What is shown beside figures of the window is of the window, too.
  double busiest = 0;
  for (const WorkerRows& worker : workers)
    if (worker.described_s > 0)
      busiest = std::max(busiest, worker.compute_s / worker.described_s);
  report.bound_compute_s = busiest * report.iteration_mean_s;
  const double fullest =
      report.busiest_links.empty() ? 0 : report.busiest_links.front().utilisation;
  report.bound_link_s = std::min(fullest, 1.0) * report.iteration_mean_s;
  return report;
}

}  // namespace syncline

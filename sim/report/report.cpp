#include "sim/report/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <utility>

namespace syncline {
namespace {

struct Interval {
  double start_s;
  double end_s;
};

// One worker's part of the trace.
struct WorkerRows {
  std::vector<Interval> iterations;   // from forward to step
  std::vector<Interval> blocked;      // its compute stream waited
  std::vector<Interval> moving;       // its bytes were moving
  std::vector<Interval> compression;  // it compressed on another stream
  std::vector<Interval> computing;    // forward and backward
  double compute_s = 0;               // in measured iterations
  double launch_s = 0;                // of these, what a worker alone would hide
  double compress_s = 0;
  double all_compute_s = 0;  // with warm-up
};

bool is_compression(const Row& row) {
  return row.verb == "compress" || row.verb == "decompress";
}

// The worker whose time a row belongs to: the row's own, or the one whose device a server or an
// aggregator uses for compression; -1: none.
int worker_of(const Trace& trace, const Row& row) {
  if (row.iteration < 0)
    return -1;
  if (row.rank < trace.workers)
    return row.rank;
  const auto rank = static_cast<std::size_t>(row.rank);
  return is_compression(row) && rank < trace.on_worker.size() ? trace.on_worker[rank] : -1;
}

// What a node's aggregator moves, sums and parameters, are bytes of its workers.
void add_moving_of_nodes(const Trace& trace, std::vector<WorkerRows>& workers) {
  std::vector<std::vector<Interval>> moving(trace.node_of.size());  // by node
  const int first = trace.workers + trace.servers;
  for (const Row& row : trace.rows)
    if (row.rank >= first && row.iteration < 0 && row.bytes_sent + row.bytes_received > 0)
      moving[static_cast<std::size_t>(row.rank - first)].push_back({row.start_s, row.end_s});
  for (std::size_t worker = 0; worker < trace.node_of.size(); ++worker) {
    const auto& of_node = moving[static_cast<std::size_t>(trace.node_of[worker])];
    workers[worker].moving.insert(workers[worker].moving.end(), of_node.begin(), of_node.end());
  }
}

std::vector<WorkerRows> by_worker(const Trace& trace, int warmup) {
  std::vector<WorkerRows> workers(static_cast<std::size_t>(trace.workers));
  for (const Row& row : trace.rows) {
    const int about = worker_of(trace, row);
    if (about < 0)
      continue;
    WorkerRows& worker = workers[static_cast<std::size_t>(about)];
    const bool measured = row.iteration >= warmup;
    const double seconds = row.end_s - row.start_s;
    const bool compresses = is_compression(row);
    if (row.stream != Stream::compute || row.rank != about) {
      if (row.verb != "wait" && measured)
        (compresses ? worker.compression : worker.moving).push_back({row.start_s, row.end_s});
      continue;
    }
    if (row.verb == "forward" && row.iteration >= static_cast<int>(worker.iterations.size()))
      worker.iterations.push_back({row.start_s, row.end_s});
    else if (row.verb == "step" && !worker.iterations.empty())
      worker.iterations.back().end_s = row.end_s;

    if (row.verb == "wait") {
      if (measured)
        worker.blocked.push_back({row.start_s, row.end_s});
    } else if (compresses) {
      worker.compress_s += measured ? seconds : 0;
    } else {
      worker.compute_s += measured ? seconds : 0;
      worker.launch_s += measured && row.verb == "launch" ? seconds : 0;
      worker.all_compute_s += seconds;
      if (measured)
        worker.computing.push_back({row.start_s, row.end_s});
    }
  }
  add_moving_of_nodes(trace, workers);
  return workers;
}

// Seconds of `blocked` in which at least one of `moving` was active.
double overlap_s(const std::vector<Interval>& blocked, std::vector<Interval> moving) {
  std::ranges::sort(moving, {}, &Interval::start_s);
  std::vector<Interval> merged;
  for (const Interval& interval : moving)
    if (!merged.empty() && interval.start_s <= merged.back().end_s)
      merged.back().end_s = std::max(merged.back().end_s, interval.end_s);
    else
      merged.push_back(interval);
  double sum = 0;
  std::size_t first = 0;
  for (const Interval& wait : blocked) {  // in order of time
    while (first < merged.size() && merged[first].end_s <= wait.start_s)
      ++first;
    for (std::size_t i = first; i < merged.size() && merged[i].start_s < wait.end_s; ++i)
      sum += std::min(wait.end_s, merged[i].end_s) - std::max(wait.start_s, merged[i].start_s);
  }
  return sum;
}

// Computation and compression each had half of the core while both ran.
void split_shared_core_time(WorkerRows& worker) {
  const double shared_s = overlap_s(worker.computing, worker.compression) / 2;
  worker.compute_s -= shared_s;
  worker.all_compute_s -= shared_s;
  worker.compress_s += shared_s;
}

// Samples/s in the time when all workers are measured: from when the last one has finished warm-up
// until the first one has ended. An iteration that is partly in this window counts by that part.
double throughput_of(const std::vector<WorkerRows>& workers, int batch, int warmup,
                     std::vector<std::string>& warnings) {
  double from_s = 0;
  double to_s = std::numeric_limits<double>::infinity();
  for (const WorkerRows& worker : workers) {
    if (warmup > 0)
      from_s = std::max(from_s, worker.iterations[static_cast<std::size_t>(warmup) - 1].end_s);
    to_s = std::min(to_s, worker.iterations.back().end_s);
  }
  if (from_s >= to_s) {
    from_s = 0;
    warnings.push_back(
        "the fastest worker had ended before the slowest was warm: throughput is from the start");
  }
  double iterations = 0;
  for (const WorkerRows& worker : workers)
    for (const Interval& iteration : worker.iterations) {
      const double inside = std::min(to_s, iteration.end_s) - std::max(from_s, iteration.start_s);
      if (inside > 0)
        iterations += inside / (iteration.end_s - iteration.start_s);
    }
  return batch * iterations / (to_s - from_s);
}

// The value below which a fraction of the sorted values lies, by the nearest-rank rule.
double percentile(const std::vector<double>& sorted, double fraction) {
  const double rank = std::ceil(fraction * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

std::int64_t updates_in(const Trace& trace) {
  std::int64_t steps = 0;
  std::int64_t updates = 0;
  for (const Row& row : trace.rows)
    if (row.verb == "step" && row.rank == 0)
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
    const auto slowest = std::ranges::max_element(workers, {}, &WorkerRows::all_compute_s);
    double mean_s = 0;
    for (const WorkerRows& worker : workers)
      mean_s += worker.all_compute_s / static_cast<double>(workers.size());
    char factor[32];
    std::snprintf(factor, sizeof factor, "%.2f", slowest->all_compute_s / mean_s);
    text += "; the slowest, " +
            trace.rank_names[static_cast<std::size_t>(slowest - workers.begin())] +
            ", computes for " + factor + " times the mean";
  }
  if (!report.busiest_links.empty())
    text += "; the busiest link, " + report.busiest_links.front().name + ", is " + percent(link) +
            " full";
  return text;
}

void add_links(const Trace& trace, double all_iterations, Report& report) {
  std::vector<LinkUse> links = trace.links;
  const auto busy_s = [](const LinkUse& link) { return link.bytes / link.bandwidth_Bps; };
  std::ranges::sort(links, [&](const LinkUse& a, const LinkUse& b) {
    return busy_s(a) != busy_s(b) ? busy_s(a) > busy_s(b) : a.name < b.name;
  });
  for (std::size_t i = 0; i < std::min<std::size_t>(3, links.size()); ++i)
    report.busiest_links.push_back({.name = links[i].name,
                                    .utilisation = busy_s(links[i]) / trace.end_s,
                                    .bytes_per_iteration = links[i].bytes / all_iterations});
  report.bound_link_s = links.empty() ? 0 : busy_s(links.front()) / all_iterations;
}

}  // namespace

Report make_report(const Trace& trace, int batch, int warmup, int iterations) {
  Report report;
  std::vector<WorkerRows> workers = by_worker(trace, warmup);
  for (std::size_t w = 0; w < workers.size(); ++w)
    if (!workers[w].compression.empty() && w < trace.one_core.size() && trace.one_core[w])
      split_shared_core_time(workers[w]);
  const double measured = static_cast<double>(trace.workers) * iterations;
  const double all_iterations = warmup + iterations;
  report.simulated_s = trace.end_s;
  report.flows = trace.flows;

  std::vector<double> durations;
  double alone = 0;  // samples/s
  for (std::size_t w = 0; w < workers.size(); ++w) {
    const WorkerRows& worker = workers[w];
    for (std::size_t i = static_cast<std::size_t>(warmup); i < worker.iterations.size(); ++i)
      durations.push_back(worker.iterations[i].end_s - worker.iterations[i].start_s);
    alone += batch * iterations / (worker.compute_s - worker.launch_s);
    const double blocked_s = std::accumulate(
        worker.blocked.begin(), worker.blocked.end(), 0.0,
        [](double sum, const Interval& wait) { return sum + wait.end_s - wait.start_s; });
    const double compressing_s = overlap_s(worker.blocked, worker.compression);
    std::vector<Interval> busy = worker.moving;
    busy.insert(busy.end(), worker.compression.begin(), worker.compression.end());
    const double exposed_s = overlap_s(worker.blocked, std::move(busy)) - compressing_s;
    report.compute_s += worker.compute_s / measured;
    report.compress_s += (worker.compress_s + compressing_s) / measured;
    report.exposed_s += exposed_s / measured;
    const double waiting_s = blocked_s - exposed_s - compressing_s;
    report.waiting_s += waiting_s > 1e-9 * blocked_s ? waiting_s / measured : 0;  // else rounding
    report.bound_compute_s =
        std::max(report.bound_compute_s, worker.all_compute_s / all_iterations);
  }
  std::ranges::sort(durations);
  report.iteration_mean_s = std::accumulate(durations.begin(), durations.end(), 0.0) / measured;
  report.iteration_p50_s = percentile(durations, 0.5);
  report.iteration_p99_s = percentile(durations, 0.99);
  report.throughput = throughput_of(workers, batch, warmup, report.warnings);
  report.scaling_efficiency = report.throughput / alone;

  for (const Row& row : trace.rows)  // aggregators send on behalf of their workers
    if (row.rank < trace.workers || row.rank >= trace.workers + trace.servers) {
      report.bytes_sent += static_cast<double>(row.bytes_sent) / (trace.workers * all_iterations);
      report.bytes_received +=
          static_cast<double>(row.bytes_received) / (trace.workers * all_iterations);
    }
  add_links(trace, all_iterations, report);
  report.staleness = staleness_of(trace, -1, trace.end_s);
  report.updates = updates_in(trace);
  report.bottleneck = bottleneck_of(trace, workers, report);

  report.run_iteration_s = trace.end_s / all_iterations;
  const double bound_s = std::max(report.bound_compute_s, report.bound_link_s);
  if (report.run_iteration_s < bound_s * (1 - 1e-6))
    report.warnings.push_back("an iteration took " + std::to_string(report.run_iteration_s) +
                              " s, less than its lower bound of " + std::to_string(bound_s) +
                              " s: this is a bug, please report it");
  return report;
}

}  // namespace syncline

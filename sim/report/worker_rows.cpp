#include "sim/report/worker_rows.h"

#include <algorithm>
#include <numeric>

namespace syncline {
namespace {

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

// The bytes that a node's aggregator moves, sums and parameters, are those of its workers.
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

// Finds the iterations and which of them are measured.
std::vector<WorkerRows> iterations_of(const Trace& trace, const MeasuredWindow& measured) {
  std::vector<WorkerRows> workers(static_cast<std::size_t>(trace.workers));
  for (const Row& row : trace.rows) {
    if (row.rank >= trace.workers || row.stream != Stream::compute)
      continue;
    std::vector<Interval>& iterations = workers[static_cast<std::size_t>(row.rank)].iterations;
    if (row.verb == "forward" && row.iteration >= static_cast<int>(iterations.size()))
      iterations.push_back({row.start_s, row.end_s});
    else if (row.verb == "step" && !iterations.empty())
      iterations.back().end_s = row.end_s;
  }
  for (WorkerRows& worker : workers) {
    worker.alone_s.resize(worker.iterations.size());
    for (std::size_t i = 0; i < worker.iterations.size(); ++i)
      worker.measured.push_back(measured.has_iteration(
          static_cast<int>(i), worker.iterations[i].start_s, worker.iterations[i].end_s));
    if (std::ranges::count(worker.measured, true) == 0)  // too slow for the window: what it did
      worker.measured.assign(worker.iterations.size(), true);
    for (std::size_t i = 0; i < worker.iterations.size(); ++i)
      if (worker.measured[i]) {
        ++worker.described;
        worker.described_s += worker.iterations[i].end_s - worker.iterations[i].start_s;
      }
  }
  return workers;
}

}  // namespace

std::vector<WorkerRows> by_worker(const Trace& trace, const MeasuredWindow& measured) {
  std::vector<WorkerRows> workers = iterations_of(trace, measured);
  for (const Row& row : trace.rows) {
    const int about = worker_of(trace, row);
    if (about < 0)
      continue;
    WorkerRows& worker = workers[static_cast<std::size_t>(about)];
    const auto iteration = static_cast<std::size_t>(row.iteration);
    const bool counts = iteration < worker.measured.size() && worker.measured[iteration];
    const double seconds = row.end_s - row.start_s;
    const double described_s = counts ? seconds : 0;
    const bool compresses = is_compression(row);
    if (row.stream != Stream::compute || row.rank != about) {
      if (row.verb != "wait")
        (compresses ? worker.compression : worker.moving).push_back({row.start_s, row.end_s});
      continue;
    }
    if (row.verb == "wait") {
      // After its last step a worker is in no iteration: a late average may still be on its way.
      if (counts && row.start_s < worker.iterations.back().end_s)
        worker.blocked.push_back({row.start_s, row.end_s});
    } else if (compresses) {
      worker.compress_s += described_s;
    } else {
      worker.compute_s += described_s;
      if (row.verb != "launch" && iteration < worker.alone_s.size())
        worker.alone_s[iteration] += seconds;
      worker.all_compute_s += seconds;
      if (counts)
        worker.computing.push_back({row.start_s, row.end_s});
    }
  }
  add_moving_of_nodes(trace, workers);
  return workers;
}

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

void split_shared_core_time(WorkerRows& worker) {
  const double shared_s = overlap_s(worker.computing, worker.compression) / 2;
  if (shared_s > 0)
    for (double& alone_s : worker.alone_s)
      alone_s *= 1 - shared_s / worker.compute_s;
  worker.compute_s -= shared_s;
  worker.all_compute_s -= shared_s;
  worker.compress_s += shared_s;
}

double alone_per_s(const WorkerRows& worker, const Progress& progress, const Window& window) {
  double iterations = 0;
  double seconds = 0;
  for (std::size_t i = 0; i < progress.counted_s.size(); ++i) {
    const double part = part_in(progress, i, window);
    iterations += part;
    seconds += part * worker.alone_s[i];
  }
  if (iterations > 0)
    return iterations / seconds;
  // It is too slow for the window.
  return static_cast<double>(worker.alone_s.size()) /
         std::accumulate(worker.alone_s.begin(), worker.alone_s.end(), 0.0);
}

}  // namespace syncline

#include "sim/report/worker_rows.h"

#include <algorithm>
#include <utility>

namespace syncline {
namespace {

// The worker whose time a row belongs to: the row's own, or the one whose device a server or an
// aggregator uses for compression; -1: none.
int worker_of(const Trace& trace, const Row& row) {
  if (row.iteration < 0)
    return -1;
  if (row.rank < trace.workers)
    return row.rank;
  const auto rank = static_cast<std::size_t>(row.rank);
  return is_compression(row.verb) && rank < trace.on_worker.size() ? trace.on_worker[rank] : -1;
}

// The part of a row of computation in which forward is computed again.
double again_in(const Trace& trace, const Row& row) {
  const auto bucket = static_cast<std::size_t>(row.bucket);
  if (row.verb == Verb::accumulate)
    return trace.again_in_accumulate;
  return row.verb == Verb::backward && row.bucket >= 0 && bucket < trace.again_in_backward.size()
             ? trace.again_in_backward[bucket]
             : 0;
}

bool is_on_compute_stream(const Trace& trace, const Row& row) {
  return row.rank < trace.workers && row.stream == Stream::compute;
}

// Counts bytes that a node's aggregator moves, sums and parameters, as bytes of the node's workers.
void add_moving_of_nodes(const Trace& trace, std::vector<BesideComputing>& workers) {
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

// By worker.
std::vector<BesideComputing> beside_computing(const Trace& trace) {
  std::vector<BesideComputing> workers(static_cast<std::size_t>(trace.workers));
  const MovingTimes moving(trace);
  for (const Row& row : trace.rows) {
    const int about = worker_of(trace, row);
    if (about < 0 || is_on_compute_stream(trace, row))
      continue;
    BesideComputing& worker = workers[static_cast<std::size_t>(about)];
    if (is_compression(row.verb))
      worker.compression.push_back({row.start_s, row.end_s});
    else
      moving.append(row, worker.moving);
  }
  add_moving_of_nodes(trace, workers);
  for (BesideComputing& worker : workers) {
    worker.moving = merged(std::move(worker.moving));
    worker.compression = merged(std::move(worker.compression));
  }
  return workers;
}

// Adds what a compute stream does in the times that count, row by row in the order of time, and the
// gaps between rows.
class ComputeStream {
 public:
  ComputeStream(const Trace& trace, WorkerRows& worker, std::vector<CountedTime> times)
      : trace_(trace), worker_(worker), times_(std::move(times)) {}

  void add(const Row& row) {
    if (row.iteration >= 0)
      add_iteration(row);
    if (row.verb == Verb::wait)
      return;
    add_counted(until_s_, row.start_s, worker_.blocked);
    until_s_ = std::max(until_s_, row.end_s);
    if (is_compression(row.verb)) {
      worker_.compress_s += add_counted(row.start_s, row.end_s, worker_.compressing);
      return;
    }
    const double seconds = add_counted(row.start_s, row.end_s, worker_.computing);
    worker_.compute_s += seconds;
    worker_.again_s += seconds * again_in(trace_, row);
    worker_.all_compute_s += row.end_s - row.start_s;
  }
  // Call it after the last row.
  void end() {
    if (!times_.empty())
      add_counted(until_s_, times_.back().to_s, worker_.blocked);
  }

 private:
  void add_iteration(const Row& row) {
    std::vector<Interval>& iterations = worker_.iterations;
    const bool begins =
        row.verb == Verb::forward || (trace_.own_parameters && row.verb == Verb::wait);
    if (begins && row.iteration >= static_cast<int>(iterations.size()))
      iterations.push_back({row.start_s, row.end_s});
    else if (row.verb == Verb::step && !iterations.empty())
      iterations.back().end_s = row.end_s;
    else if (row.verb == Verb::wait && trace_.in_step && !iterations.empty())
      iterations.back().end_s = row.end_s;  // perhaps for parameters that others have stepped
  }
  // Adds the parts of a stretch that count, and returns their seconds.
  double add_counted(double start_s, double end_s, std::vector<Interval>& all) const {
    double seconds = 0;
    for (const CountedTime& time : times_) {  // few, because only the first and the last are cut
      const Interval one{std::max(start_s, time.from_s), std::min(end_s, time.to_s), time.part};
      if (one.end_s <= one.start_s)
        continue;
      if (!all.empty() && all.back().end_s == one.start_s && all.back().part == one.part)
        all.back().end_s = one.end_s;
      else
        all.push_back(one);
      seconds += one.part * (one.end_s - one.start_s);
    }
    return seconds;
  }

  const Trace& trace_;
  WorkerRows& worker_;
  std::vector<CountedTime> times_;
  double until_s_ = 0;  // end of the last row
};

std::vector<WorkerRows> by_worker(const Trace& trace, const MeasuredWindow& measured,
                                  const std::vector<Progress>& progress) {
  std::vector<WorkerRows> workers(static_cast<std::size_t>(trace.workers));
  std::vector<ComputeStream> streams;
  for (std::size_t i = 0; i < workers.size(); ++i)
    streams.emplace_back(trace, workers[i], measured.times_of(progress[i]));
  for (const Row& row : trace.rows)
    if (is_on_compute_stream(trace, row))
      streams[static_cast<std::size_t>(row.rank)].add(row);
  std::vector<BesideComputing> beside = beside_computing(trace);
  for (std::size_t i = 0; i < workers.size(); ++i) {
    streams[i].end();
    WorkerRows& worker = workers[i];
    worker.beside = std::move(beside[i]);
    worker.counted = measured.iterations(progress[i]);
    if (!trace.in_step)
      worker.window_s = measured.seconds();  // also if the worker began later
    else
      for (const CountedTime& time : measured.times_of(progress[i]))
        worker.window_s += time.part * (time.to_s - time.from_s);
  }
  return workers;
}

}  // namespace

TraceByWorker::TraceByWorker(const Trace& trace)
    : progress(progress_of(trace)),
      measured(trace, progress),
      workers(by_worker(trace, measured, progress)) {}

SpentSeconds spent_by(const WorkerRows& worker, bool one_core) {
  const BesideComputing& beside = worker.beside;
  const double compressing_s = overlap_s(worker.blocked, beside.compression);
  std::vector<Interval> busy = beside.moving;
  busy.insert(busy.end(), beside.compression.begin(), beside.compression.end());
  const double exposed_s = overlap_s(worker.blocked, merged(std::move(busy))) - compressing_s;
  const double shared_s = one_core ? overlap_s(worker.computing, beside.compression) / 2 : 0;
  SpentSeconds spent{.compute_s = worker.compute_s - shared_s,
                     .compress_s = worker.compress_s + compressing_s + shared_s,
                     .exposed_s = exposed_s};
  const double rest_s = worker.window_s - spent.compute_s - spent.compress_s - spent.exposed_s;
  spent.waiting_s = rest_s > 1e-9 * worker.window_s ? rest_s : 0;  // otherwise it is rounding
  return spent;
}

}  // namespace syncline

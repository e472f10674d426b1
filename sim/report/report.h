// Figures from a trace: a pure function, without the engine, so a new figure needs no new
// simulation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/report/staleness.h"
#include "sim/trace.h"

namespace syncline {

struct BusyLink {
  std::string name;
  double utilisation = 0;          // of its bandwidth, in the window
  double bytes_per_iteration = 0;  // of all workers
};

constexpr double agreeing_halves = 0.03;  // if they differ by more, a warning says so

// Throughput of flows is so near that of steps; where this warning is, so near (law 26).
constexpr double error_of_flows = 0.03;
constexpr double error_of_doubted_flows = 0.07;
constexpr const char* doubt_of_flows =
    "fidelity = flow: several partitions of a bucket are pushed as one, with which asp and ssp "
    "were up to 7 % too fast; fidelity = step pushes each";

struct Report {
  // The window that figures are about, unless they say that they are of the whole run.
  double window_from_s = 0;
  double window_to_s = 0;
  double window_iterations = 0;  // in it, per worker
  int workers = 0;

  double throughput = 0;                   // samples/s of all workers
  std::vector<double> throughput_of_runs;  // where a cell has several: it is their mean
  // Half the width of its 95 % interval, as a part of it; none: it has fewer than 20 iterations per
  // worker.
  std::optional<double> throughput_interval;
  double halves_differ = 0;  // throughput of the second half less the first's, as a part of it
  // Throughput / sum over workers of what each would reach alone: samples/s in its own computation
  // of the iterations that count in the window. At most 1.
  double scaling_efficiency = 0;
  double iteration_mean_s = 0;
  double iteration_p50_s = 0;
  double iteration_p99_s = 0;

  // Parts of an iteration, mean over workers and measured iterations; they add up to its mean.
  double compute_s = 0;
  double compress_s = 0;
  double exposed_s = 0;  // blocked while its bytes move
  double waiting_s = 0;  // blocked while none of its bytes move

  double bytes_sent = 0;  // per worker and iteration; includes node aggregators
  double bytes_received = 0;
  std::vector<BusyLink> busiest_links;  // at most three
  double fullest_link() const {
    return busiest_links.empty() ? 0 : busiest_links.front().utilisation;
  }
  std::string bottleneck;  // a sentence

  Staleness staleness;
  std::int64_t updates = 0;  // of the run: of bucket 0 at server 0; without servers, steps

  double run_iteration_s = 0;  // per iteration of the whole run, with warm-up
  // Lower bounds, per iteration of the window.
  double bound_compute_s = 0;  // the slowest worker's own computation
  double bound_link_s = 0;     // the busiest link's bytes / bandwidth
  std::vector<std::string> warnings;

  double simulated_s = 0;
  std::uint64_t flows = 0;

  std::optional<Learned> learned;  // of the whole run
};

Report make_report(const Trace& trace, int batch);

}  // namespace syncline

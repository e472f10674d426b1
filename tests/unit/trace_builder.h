// Traces small enough to compute their figures by hand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/report.h"
#include "sim/window.h"

namespace syncline {

// Makes a trace in which the compute rows of each worker follow each other.
class TraceBuilder {
 public:
  explicit TraceBuilder(int workers) : clock_(static_cast<std::size_t>(workers)) {
    trace_.workers = workers;
    for (int i = 0; i < workers; ++i)
      trace_.rank_names.push_back("worker " + std::to_string(i));
  }

  // Seconds of `verb` on the compute stream.
  TraceBuilder& computes(int rank, int iteration, std::string_view verb, double seconds) {
    double& now = clock_[static_cast<std::size_t>(rank)];
    trace_.rows.push_back({.start_s = now,
                           .end_s = now + seconds,
                           .verb = verb_of(verb).value(),
                           .rank = rank,
                           .iteration = iteration});
    now += seconds;
    trace_.end_s = std::max(trace_.end_s, now);
    return *this;
  }
  // One iteration: `seconds` of computation, then `wait_s` of waiting.
  TraceBuilder& iterates(int rank, int iteration, double seconds, double wait_s = 0) {
    computes(rank, iteration, "forward", seconds / 4)
        .computes(rank, iteration, "backward", seconds * 3 / 4);
    if (wait_s > 0)
      computes(rank, iteration, "wait", wait_s);
    computes(rank, iteration, "step", 0);
    if (trace_.in_step)
      return *this;
    const double now = clock_[static_cast<std::size_t>(rank)];
    trace_.rows.push_back({.start_s = now,
                           .end_s = now,
                           .verb = Verb::apply,
                           .rank = trace_.workers,
                           .iteration = iteration,
                           .version = ++version_,
                           .read_version = version_ - 1,
                           .worker = rank});
    return *this;
  }
  // Workers do not wait for each other: from here on iterations count when they are applied, at
  // their end.
  TraceBuilder& apart() {
    trace_.in_step = false;
    return *this;
  }
  TraceBuilder& moves(int rank, int iteration, double start_s, double end_s,
                      std::uint64_t bytes = 0, std::string_view verb = "all-reduce") {
    trace_.rows.push_back({.start_s = start_s,
                           .end_s = end_s,
                           .verb = verb_of(verb).value(),
                           .stream = Stream::communication,
                           .rank = rank,
                           .iteration = iteration,
                           .bytes_sent = bytes,
                           .bytes_received = 2 * bytes});
    return *this;
  }
  Trace& trace() { return trace_; }
  Figures report(int batch, int warmup) {
    const std::vector<Progress> progress = progress_of(trace_);
    trace_.window = trace_.in_step
                        ? window_after({pace_of(progress, trace_.round)}, warmup / trace_.round)
                        : window_after(progress, warmup);
    return figures_of(trace_, batch);
  }

 private:
  Trace trace_;
  std::vector<double> clock_;
  std::int64_t version_ = 0;
};

}  // namespace syncline

// When a run is measured, and how well throughput is known from that: pure functions of the times
// at which iterations counted. During the run the engine asks whether it has seen enough; at the
// end the report asks.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/trace.h"

namespace syncline {

// When the iterations of one worker counted. Between two counts its progress is even.
struct Progress {
  double start_s = 0;  // of its first iteration
  std::vector<double> counted_s;
  // End of all that it waits for or computes, and of the servers' answers to it.
  double ended_s = 0;
  // Iterations whose gradients had been applied at each count; empty: all of them.
  std::vector<double> applied = {};

  // Counts another iteration, of which `part` (0 to 1) has been applied.
  void count(double now_s, double part);
};

// By worker. In step, or if workers have parameters of their own, an iteration counts at its step;
// else when the last part of its gradient has been applied or dropped.
std::vector<Progress> progress_of(const Trace& trace);

// From the time when the last worker is warm to the last count of the worker that ends first. If
// that is empty: from the time when the last worker begins (or else from 0), and not `warm`. A
// window from there contains no messages of iterations before it, so it ends later, when the first
// worker has ended, and contains all that its own iterations started.
Window window_after(const std::vector<Progress>& workers, int warmup);

// The window without the time before throughput settled, by MSER (White 1997) over 40 batches; none
// if that is not yet sure, because half would be dropped.
std::optional<Window> settled(const std::vector<Progress>& workers, const Window& window);

// Iterations of all workers that were applied; one that is partly in the window counts by its part.
double iterations_in(const std::vector<Progress>& workers, const Window& window);

// The common pace of workers in step: when each round of `round` iterations had ended, in the mean
// of all workers, up to the last round of the slowest.
Progress pace_of(const std::vector<Progress>& workers, int round);

// Seconds of the fastest and of the slowest worker from the end of one round to that of another,
// both of which all have ended; rounds count from 1.
struct FastestAndSlowest {
  double fastest_s = 0, slowest_s = 0;
};
FastestAndSlowest between_rounds(const std::vector<Progress>& workers, std::size_t first,
                                 std::size_t last, int round);

// The part of a worker's iteration that is in the window: 0 to 1.
double part_in(const Progress& worker, std::size_t iteration, const Window& window);

// The end of this window, which interval_of cuts into whole periods of something that repeats; none
// if the window is shorter than that, or if nothing repeats (period 0).
std::optional<Window> in_whole_periods(const Window& window, double period_s);

// Half the width of the 95 % interval of throughput, as a part of it: from the means of 20 batches
// of equal time, and wider where neighbouring batches are alike. None if a batch is shorter than an
// iteration.
std::optional<double> interval_of(const std::vector<Progress>& workers, const Window& window);
// The interval that a result states: at least as wide as the interval from 5 batches, for which a
// run does not wait.
std::optional<double> stated_interval_of(const std::vector<Progress>& workers,
                                         const Window& window);

// A run is steady if the halves of its window differ by at most this part.
constexpr double steady_halves = 0.03;

// Throughput of the second half minus throughput of the first, as a part of the whole.
double halves_differ(const std::vector<Progress>& workers, const Window& window);

// The same for workers in step, by whole rounds of their pace. Rounds are as good as independent of
// one another, so each is a sample; the interval is none with fewer than five rounds.
constexpr int least_rounds = 5;
std::optional<double> interval_of_rounds(const Progress& pace, const Window& window);
double halves_of_rounds_differ(const Progress& pace, const Window& window);

double mean_of(const std::vector<double>& values);

// The 97.5 % point of Student's t: half of the 95 % interval of the mean of `samples` (at least
// two), in standard errors of the mean.
double student(std::size_t samples);

// How well throughput is known in the window of a trace.
struct Certainty {
  std::optional<double> interval;
  double halves_differ = 0;
};
Certainty certainty_of(const Trace& trace, const std::vector<Progress>& workers);

// A stretch of time that counts by `part`.
struct CountedTime {
  double from_s = 0;
  double to_s = 0;
  double part = 1;
};

// Says what belongs to the window. In step that is iterations, the same for all workers: whole
// ones, except the first and the last round where the platform's profiles cut the window. Otherwise
// it is what happens between two moments.
class MeasuredWindow {
 public:
  MeasuredWindow(const Trace& trace, const std::vector<Progress>& workers);

  // The part of what this row moves that is in the window: 0 to 1.
  double part(const Row& row) const;
  // Whether most of this iteration, from forward to step, is in the window.
  bool has_iteration(int iteration, double start_s, double end_s) const;
  // Iterations in the window: of all workers, and of one worker.
  double iterations() const { return iterations_; }
  double iterations(const Progress& worker) const;
  double seconds() const { return window_.to_s - window_.from_s; }
  // The times of a worker's iterations in the window, in order: each lasts from the previous count
  // to its own, with the part of it that is inside. In step these times differ between workers; in
  // the mean of all workers they are as long as the window.
  std::vector<CountedTime> times_of(const Progress& worker) const;

 private:
  double part_of_iteration(int iteration) const;  // in step: 0 to 1

  bool in_step_;
  bool has_end_ = false;  // in step: the window includes what ends after the last iterations
  Window window_;
  int round_;
  std::vector<double> parts_;  // in step: the part of each round that is in the window
  double of_each_ = 0;         // in step: iterations of a worker
  double iterations_ = 0;
};

}  // namespace syncline

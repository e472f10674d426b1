// A window says when a run is measured, and how well throughput is known from that: pure functions
// of when iterations counted. The engine asks while it runs whether it has seen enough, the report
// at last.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/trace.h"

namespace syncline {

// When the iterations of one worker counted. In between it makes progress evenly.
struct Progress {
  double start_s = 0;  // of its first iteration
  std::vector<double> counted_s;
  double ended_s = 0;  // all that it waits for or computes, and what servers answer it
  // So many iterations' gradients had been applied then; empty: all of them.
  std::vector<double> applied = {};

  // Another iteration counts, of which this part has been applied: 0 to 1.
  void count(double now_s, double part);
};

// By worker. In step, an iteration counts at its step; else when the last part of its gradient has
// been applied or dropped.
std::vector<Progress> progress_of(const Trace& trace);

// From when the last worker is warm until the first one's last iteration counts. If that is empty:
// from the start, and not `warm`. A window that begins with a run has nothing that iterations
// before it began, and so has what its own began: it lasts until the first worker has ended.
Window window_after(const std::vector<Progress>& workers, int warmup);

// The window without what came before throughput settled, by MSER (White 1997) over 40 batches;
// none if that is not yet sure, because it would drop half.
std::optional<Window> settled(const std::vector<Progress>& workers, const Window& window);

// Of all workers so many were applied; an iteration that is partly in the window counts by its
// part.
double iterations_in(const std::vector<Progress>& workers, const Window& window);

// In step all go at one pace: when each whole round of so many iterations had ended, as the mean of
// all workers. As far as the slowest has come.
Progress pace_of(const std::vector<Progress>& workers, int round);

// So much of an iteration of a worker is in the window: 0 to 1.
double part_in(const Progress& worker, std::size_t iteration, const Window& window);

// The end of this window that interval_of cuts into whole periods of something that repeats; none
// if it is shorter than that, or nothing repeats.
std::optional<Window> in_whole_periods(const Window& window, double period_s);

// Half the width of the 95 % interval of throughput, as a part of it: from the means of 20 batches
// of equal time, made wider where neighbours are alike. None if a batch is shorter than an
// iteration.
std::optional<double> interval_of(const std::vector<Progress>& workers, const Window& window);
// A result states this: at least that of 5 batches, which a run does not wait for.
std::optional<double> stated_interval_of(const std::vector<Progress>& workers,
                                         const Window& window);

// A run is steady if the halves of its window differ by at most such a part.
constexpr double steady_halves = 0.03;

// Throughput of the second half less that of the first, as a part of the whole.
double halves_differ(const std::vector<Progress>& workers, const Window& window);

// Workers in step have these two, by whole rounds of their pace. Rounds are as good as independent
// of one another, so each is a sample; the interval is none where there are fewer than five.
constexpr int least_rounds = 5;
std::optional<double> interval_of_rounds(const Progress& pace, const Window& window);
double halves_of_rounds_differ(const Progress& pace, const Window& window);

double mean_of(const std::vector<double>& values);

// Half of the 95 % interval of the mean of so many samples (at least two) is so many times its
// standard error: 97.5 % of Student's t.
double student(std::size_t samples);

// How well throughput is known in the window of a trace.
struct Certainty {
  std::optional<double> interval;
  double halves_differ = 0;
};
Certainty certainty_of(const Trace& trace, const std::vector<Progress>& workers);

// A stretch of time of which this part counts.
struct CountedTime {
  double from_s = 0;
  double to_s = 0;
  double part = 1;
};

// It says what belongs to the window. In step these are iterations, equal for all workers: whole
// ones, but for the first and the last round where the platform's profiles cut the window. Else it
// is what happens between two moments.
class MeasuredWindow {
 public:
  MeasuredWindow(const Trace& trace, const std::vector<Progress>& workers);

  // So much of what this row moves does: 0 to 1.
  double part(const Row& row) const;
  // Whether most of this iteration, from forward to step, is in it.
  bool has_iteration(int iteration, double start_s, double end_s) const;
  // All workers did so many; one of them did so many.
  double iterations() const { return iterations_; }
  double iterations(const Progress& worker) const;
  double seconds() const { return window_.to_s - window_.from_s; }
  // When a worker does its iterations of the window, in order: each from when the one before
  // counted until it counts, with the part of it that does. In step these are other times for each
  // worker; in the mean, of all, they are as long as the window.
  std::vector<CountedTime> times_of(const Progress& worker) const;

 private:
  double part_of_iteration(int iteration) const;  // in step: 0 to 1

  bool in_step_;
  bool has_end_ = false;  // in step: the window has what ends after the last iterations
  Window window_;
  int round_;
  std::vector<double> parts_;  // in step: of each round
  double of_each_ = 0;         // in step: iterations of a worker
  double iterations_ = 0;
};

}  // namespace syncline

// The length of a run. With `iterations = N` every worker does N iterations after its warm-up. With
// `auto` the run goes on until throughput is known as well as the option `interval` asks.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/schedule.h"
#include "sim/setup/setup.h"
#include "sim/window.h"

namespace syncline {

class RunLength {
 public:
  explicit RunLength(const Setup& setup);

  // The least and the most iterations of a worker, warm-up included.
  static std::pair<int, int> iterations(const Setup& setup);

  // When a worker begins its first iteration. In step, all begin together. Workers with servers
  // that began together would meet at the servers in every iteration, which workers that began at
  // other times do not. If nothing is drawn at random, or if workers wait for each other's
  // gradients (which brings them together), the workers of a node begin evenly spread over one of
  // their rounds, and nodes evenly in between. If chance decides when workers meet, they begin
  // at random, as a long run would have left them.
  double start_s(int rank);
  void starts(int rank, double now_s) { workers_[index(rank)].start_s = now_s; }
  // True if the run includes this iteration; decided when the first worker asks.
  bool has(int iteration);
  // No worker begins an iteration after those that have begun. If workers wait for others, all do
  // the same number of iterations, in whole rounds.
  void end();

  // `shards` shards of this iteration's gradient are sent to be applied; `all`: these were the
  // last.
  void sends(int rank, int iteration, int shards, bool all);
  // One of them has been applied, or else dropped. The iteration counts with its last shard:
  // returns the fraction that was applied; returns 0 before that.
  double counted(int rank, int iteration, bool applied, double now_s);
  // The worker has taken the iteration's step. In step, or where workers have parameters of their
  // own, the iteration counts at its last step.
  void stepped(int rank, int iteration, double now_s);

  // The part of the run to measure; none: everything after warm-up.
  const std::optional<Window>& window() const { return window_; }
  // True if max-iterations ended the run while throughput was still unknown.
  bool cut_short() const { return cut_short_; }

 private:
  int whole_rounds(int iterations) const;  // rounds up
  double drawn_start_s(int rank, double lead) const;
  bool in_step() const { return waiting_ == Schedule::Waiting::for_all; }
  int least_in_step() const;  // iterations to run, unless all rounds are alike
  bool repeats() const;       // in step: all rounds took equally long
  bool drifts_apart(const Window& window) const;
  std::optional<Window> settled_rounds(const Progress& pace) const;
  bool is_known(int measured);  // after this many iterations of the fastest worker
  bool is_known_in_step(int measured);
  bool is_known_of(const std::vector<Progress>& known, const Window& warm,
                   std::optional<Window> steady);

  const Setup& setup_;
  Schedule::Waiting waiting_;
  bool delays_;  // averages arrive iterations after they began
  std::vector<Progress> workers_;
  std::vector<double> alone_s_;  // seconds of an iteration, if starts are drawn
  double latest_start_ = 1;      // in iterations: a quarter of the run; learning, at most two
  // Shards of an iteration that does not count yet.
  struct Parts {
    int sent = 0;
    int missing = 1;  // of `sent`; plus 1 until all are sent
    int applied = 0;
  };
  std::vector<std::map<int, Parts>> parts_;  // by worker and iteration
  int end_;          // the first iteration that no worker has; negative: unknown
  int latest_ = -1;  // the latest iteration that a worker has
  int next_check_;
  bool ended_ = false;  // no worker begins another iteration
  std::optional<Window> window_;
  bool cut_short_ = false;
};

}  // namespace syncline

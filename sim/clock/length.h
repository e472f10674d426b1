// A run has a length. With `iterations = N` every worker does as many after its warm-up. With
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

class Length {
 public:
  explicit Length(const Setup& setup);

  // A worker does so many iterations, warm-up included: at least, and at most.
  static std::pair<int, int> iterations(const Setup& setup);

  // A worker begins its first iteration then. In step all begin together. Others would meet at the
  // servers in every iteration for ever, as nobody does who began at another time. Where nothing is
  // drawn, and where workers wait for each other's gradients, which brings them together, those of
  // a node begin evenly over an iteration of theirs, and nodes evenly in between. Where chance
  // decides when workers meet, they begin where a long run would have left them, at random.
  double start_s(int rank);
  void starts(int rank, double now_s) { workers_[index(rank)].start_s = now_s; }
  // Whether a worker that asks for it has this iteration. The worker that asks first decides.
  bool has(int iteration);
  // Nobody begins an iteration after those that have begun; where workers wait for others, all do
  // as many, and whole rounds.
  void end();

  // So many shards of this iteration's gradient are sent to be applied; `all`: no more will be.
  void sends(int rank, int iteration, int shards, bool all);
  // One of them has been applied, or else dropped. With the last one the iteration counts: returns
  // the part of it that was applied, and before 0.
  double counted(int rank, int iteration, bool applied, double now_s);
  // The worker has taken the iteration's step; in step the iteration counts at its last one.
  void stepped(int rank, int iteration, double now_s);

  // This was decided to be measured; none: all after warm-up.
  const std::optional<Window>& window() const { return window_; }
  // Whether throughput was still unknown when max-iterations ended the run.
  bool cut_short() const { return cut_short_; }

 private:
  int whole_rounds(int iterations) const;  // at least so many
  double drawn_start_s(int rank, double lead) const;
  bool in_step() const { return waiting_ == Schedule::Waiting::for_all; }
  int least_in_step() const;  // iterations, unless all rounds are alike
  bool repeats() const;       // in step: every round took as long as the one before
  bool drifts_apart(const Window& window) const;
  bool is_known(int measured);  // after so many iterations of the fastest
  bool is_known_in_step(int measured);
  bool is_known_of(const std::vector<Progress>& known, const Window& warm,
                   std::optional<Window> steady);

  const Setup& setup_;
  Schedule::Waiting waiting_;
  std::vector<Progress> workers_;
  std::vector<double> alone_s_;  // an iteration of each, if starts are drawn
  // Of an iteration that does not count yet.
  struct Parts {
    int sent = 0;
    int missing = 1;  // of those; and 1 until all are sent
    int applied = 0;
  };
  std::vector<std::map<int, Parts>> parts_;  // by worker and iteration
  int end_;          // no worker has this iteration, unless this is negative
  int latest_ = -1;  // iteration that a worker has
  int next_check_;
  bool ended_ = false;  // nobody begins another iteration
  std::optional<Window> window_;
  bool cut_short_ = false;
};

}  // namespace syncline

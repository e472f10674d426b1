// What a worker computes on, which its collectives share with its computation.
#pragma once

#include <memory>
#include <vector>

#include "sim/engine/actors.h"

namespace syncline {

// While the worker has collectives in flight, computation progresses at 1 / (1 + slowdown) of its
// rate. Without slowdown they change nothing.
class Processor {
 public:
  explicit Processor(double slowdown) : slowdown_(slowdown) {}

  // The calling actor computes so much, and waits for it.
  void compute(double flop);
  // A collective begins, or goes on; it ends, or leaves the device to other work.
  void collective_begins() { change_collectives(1); }
  void collective_ends() { change_collectives(-1); }

 private:
  struct Computation {
    double left_flop;
    double factor = 1;  // what `activity` has more of
    sg::ExecPtr activity = nullptr;
  };

  double factor() const { return collectives_ > 0 ? 1 + slowdown_ : 1; }
  void change_collectives(int more);

  double slowdown_;
  int collectives_ = 0;
  std::vector<std::shared_ptr<Computation>> under_way_;
};

}  // namespace syncline

// The device on which a worker computes, shared with the worker's collectives.
#pragma once

#include <memory>
#include <vector>

#include "sim/engine/actors.h"

namespace syncline {

struct Setup;

// While the worker has collectives in flight, computation progresses at 1 / (1 + slowdown) of its
// rate. Without slowdown, collectives change nothing.
class Processor {
 public:
  explicit Processor(const Setup& setup);

  // Blocks the calling actor until `flop` operations are done.
  void compute(double flop);
  // collective_begins(): a collective begins or resumes. collective_ends(): it ends, or leaves the
  // device to other work.
  void collective_begins() { change_collectives(1); }
  void collective_ends() { change_collectives(-1); }

 private:
  struct Computation {
    double left_flop;
    double factor = 1;  // the flop of `activity`, relative to the computation's
    sg::ExecPtr activity = nullptr;
  };

  double factor() const { return collectives_ > 0 ? 1 + slowdown_ : 1; }
  void change_collectives(int more);

  double slowdown_;
  bool always_alone_;  // nothing shares the device, and its speed does not change
  int collectives_ = 0;
  std::vector<std::shared_ptr<Computation>> under_way_;
};

}  // namespace syncline

// Averages that start in groups, as in Horovod: tensors that all workers have ready at the end of a
// cycle are averaged together, in backward order. The first cycle begins when the last worker
// begins backward.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "sim/engine/actors.h"
#include "sim/plan.h"

namespace syncline {

struct WorkerState;

// Starts the average of a group on one worker. `group` stays valid until the next iteration has
// ended.
void start_group(WorkerState& worker, const Bucket& group, int iteration);

class Cycles {
 public:
  explicit Cycles(Run& run) : run_(run) {}

  void backward_begins();  // called once per worker and iteration
  // A worker has made a tensor's gradient, or its message, and wants the average. All workers make
  // the same tensors in the same order.
  void made(int worker, const Bucket& tensor, int iteration);
  // The payload of a group of several tensors, whose last tensor has index `last`.
  std::shared_ptr<const Payload> payload(int last, int iteration) const {
    return groups_.at({iteration, last}).payload;
  }

  void run_until_over();  // the body of an actor
  void wake() { wakeup_.wake(); }

 private:
  struct Made {
    const Bucket* tensor;
    int iteration;
    int workers = 0;  // workers that have made it
  };
  struct Group {
    Bucket bucket;
    std::shared_ptr<const Payload> payload;
  };

  double end_of_cycle(double now_s) const;
  void send_what_is_ready();
  const Bucket& group_of(const std::deque<Made>& tensors);

  Run& run_;
  Wakeup wakeup_;
  int began_ = 0;       // workers that have begun backward in this iteration
  double first_s_ = 0;  // when the first cycle began
  std::deque<Made> waiting_;
  std::size_t ready_ = 0;              // leading tensors of `waiting_` that all workers have made
  std::uint64_t gone_ = 0;             // tensors removed from `waiting_`, since the start
  std::map<int, std::uint64_t> made_;  // by worker: tensors made, since the start
  std::map<std::pair<int, int>, Group> groups_;  // by iteration and last tensor
};

}  // namespace syncline

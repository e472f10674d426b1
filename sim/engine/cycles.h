// Averages that begin in groups, as Horovod's: what all workers have made when a cycle ends goes
// together, in backward order. Cycles begin when the last worker begins with backward.
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

// The engine calls this for each worker when a group begins. The group stays where it is until the
// next iteration has ended.
void start_group(WorkerState& worker, const Bucket& group, int iteration);

class Cycles {
 public:
  explicit Cycles(Run& run) : run_(run) {}

  void backward_begins();  // on one worker, for an iteration
  // A worker has made a tensor's gradient, or the message of it, and wants the average. All workers
  // make the same, in one order.
  void made(int worker, const Bucket& tensor, int iteration);
  // What a group of several tensors sends; it has the index of its last tensor.
  std::shared_ptr<const Payload> payload(int last, int iteration) const {
    return groups_.at({iteration, last}).payload;
  }

  void run_until_over();  // an actor of its own
  void wake() { wakeup_.wake(); }

 private:
  struct Made {
    const Bucket* tensor;
    int iteration;
    int workers = 0;  // that have made it
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
  int began_ = 0;       // workers, of this iteration
  double first_s_ = 0;  // when cycles began
  std::deque<Made> waiting_;
  std::size_t ready_ = 0;                        // so many of these all workers have made
  std::uint64_t gone_ = 0;                       // before them, since the start
  std::map<int, std::uint64_t> made_;            // by worker, since the start
  std::map<std::pair<int, int>, Group> groups_;  // by iteration and last tensor
};

}  // namespace syncline

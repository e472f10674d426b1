// The verbs of a node's aggregator, which sums the gradients of the node's workers.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/registry.h"

namespace syncline {

struct AggregatorState;  // sim/engine/aggregator_state.h

class Aggregator {
 public:
  explicit Aggregator(AggregatorState& state) : state_(state) {}

  struct Event {
    enum class Kind {
      gradient,      // a worker's gradient, already added to the sum
      worker_stops,  // a worker waits for parameters or has ended
      sum_wanted
    } kind = Kind::gradient;
    std::int64_t update = 0;  // the update that needs the sum
    int nodes_in_update = 0;  // nodes whose sums the update is made of
  };

  const Settings& settings() const;  // the schedule's

  // Waits for the next event. None once the node's workers have ended and every server has received
  // all their gradients.
  std::optional<Event> next();
  // True if every worker of the node that has not ended has contributed since the last call that
  // returned true.
  bool completes_a_round();
  // Whether every worker of the node waits for parameters or has ended.
  bool all_workers_stand() const;
  // Sends the first server the node's iteration number, in a message of a few bytes, if the number
  // has changed or a worker has ended.
  void report();
  // Sends every server its part of the sum; later gradients go into a new sum. When all parts have
  // arrived, a message as in report() tells the first server.
  void send_sum(std::int64_t update, int nodes_in_update);

 private:
  AggregatorState& state_;
};

}  // namespace syncline

// The verbs of a node's aggregator, which sums the gradients of the node's workers.
#pragma once

#include <optional>

#include "kernels/registry.h"
#include "sim/schedule.h"

namespace syncline {

struct AggregatorState;  // sim/engine/aggregator_state.h

class Aggregator {
 public:
  explicit Aggregator(AggregatorState& state) : state_(state) {}

  struct Event {
    enum class Kind { gradient, sum_wanted } kind = Kind::gradient;
    int server = 0;  // that wants the sum
  };

  const Settings& settings() const;  // of the schedule

  // Waits for a worker's gradient (already added to the sum) or a server's request; none after the
  // node's workers have ended and every server has received all their gradients.
  std::optional<Event> next();
  // True once every worker of the node has contributed again since this was last true.
  bool completes_a_round();
  // Sends the node's iteration number to every server: a message of a few bytes.
  void report();
  // Sends the server its part of the sum; later gradients go into a new sum.
  void send_sum(int server);

 private:
  AggregatorState& state_;
};

}  // namespace syncline

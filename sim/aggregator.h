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
    int server = 0;  // who wants the sum
  };

  const Settings& settings() const;  // of the schedule

  // Waits for a worker's gradient (which is in the sum already) or a server's request; none when
  // the node's workers have ended and every server has everything.
  std::optional<Event> next();
  // Since this last said yes, every worker of the node has contributed once more.
  bool completes_a_round();
  // Sends the node's iteration number to every server: a message of a few bytes.
  void report();
  // Sends the server its part of the sum; gradients that come meanwhile go into a fresh one.
  void send_sum(int server);

 private:
  AggregatorState& state_;
};

}  // namespace syncline

// The state behind the verbs of a node's aggregator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "sim/aggregator.h"
#include "sim/engine/actors.h"
#include "sim/learning/learner.h"
#include "sim/plan.h"
#include "sim/server.h"

namespace syncline {

// A gradient at its node.
struct NodeGradient {
  int worker;
  int iteration;
  std::vector<std::int64_t>
      read_versions;              // by server: of the parameters that it was computed from
  SharedValues values = nullptr;  // where the scenario learns
};

struct AggregatorState {
  Run& run;
  int node;
  Inbox<Aggregator::Event> events;
  std::deque<NodeGradient> handed_over;    // those of the gradients among `events`
  std::deque<std::function<void()>> jobs;  // to do before it looks at events
  std::vector<NodeGradient> gradients;     // since the start, in the order of their sums
  std::size_t reported = 0;                // gradients of which the first server was told
  int reported_ended = 0;                  // and ended workers
  std::size_t sent = 0;                    // gradients in sums
  std::size_t delivered = 0;               // gradients in sums that every server has received
  std::int64_t sums_delivered = 0;
  std::size_t servers_reached = 0;     // by the sum that is on its way
  std::vector<std::int64_t> versions;  // by server: of the parameters here
  std::vector<std::size_t> contained;  // by server: the first so many gradients are in these
  double rounds = 0;                   // in which every worker has contributed once
  std::vector<double> contributions;   // by worker of the node; infinite once it has ended
  int waiting_workers = 0;             // for parameters
  int ended_workers = 0;

  int rank() const;
  bool all_ended() const { return ended_workers == static_cast<int>(contributions.size()); }
  bool finished() const;
  // Tells the first server what it has reported, and what was delivered.
  void send_report();
  // Takes the first gradient that was handed over into the sum.
  void add_gradient();
  void worker_ended(int rank);
  // Works on one message of a shard.
  void work(Work::Kind kind);

 private:
  double& contributions_of(int worker);
};

}  // namespace syncline

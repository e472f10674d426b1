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

// A gradient that a worker has handed over to its node.
struct NodeGradient {
  int worker;
  int iteration;
  std::vector<std::int64_t>
      read_versions;              // by server: of the parameters that it was computed from
  SharedValues values = nullptr;  // null: the scenario does not learn
};

struct AggregatorState {
  Run& run;
  int node;
  Inbox<Aggregator::Event> events;
  std::deque<NodeGradient> handed_over;    // the gradients among `events`
  std::deque<std::function<void()>> jobs;  // to do before it looks at events
  std::vector<NodeGradient> gradients;     // since the start, in the order of their sums
  std::size_t reported = 0;                // gradients reported to the first server
  int reported_ended = 0;                  // ended workers reported to it
  std::size_t sent = 0;                    // gradients sent in sums
  std::size_t delivered = 0;               // gradients in sums that every server has received
  std::int64_t sums_delivered = 0;
  std::size_t servers_reached = 0;     // servers that the sum under way has reached
  std::vector<std::int64_t> versions;  // by server: of the parameters at this node
  // By server: the number of leading `gradients` that these parameters contain.
  std::vector<std::size_t> contained;
  double rounds = 0;                  // complete rounds: every worker contributes once in each
  std::vector<double> contributions;  // by worker of the node; infinite once the worker has ended
  int waiting_workers = 0;            // workers that wait for parameters
  int ended_workers = 0;

  int rank() const;
  bool all_ended() const { return ended_workers == static_cast<int>(contributions.size()); }
  bool finished() const;
  // Sends the first server the counts of reported and delivered gradients and of ended workers.
  void send_report();
  // Adds the oldest gradient that was handed over to the sum.
  void add_gradient();
  void worker_ended(int rank);
  // Encodes or decodes one message of a shard.
  void work(Work::Kind kind);

 private:
  double& contributions_of(int worker);
};

}  // namespace syncline

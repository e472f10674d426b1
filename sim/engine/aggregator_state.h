// The state behind the verbs of a node's aggregator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "sim/aggregator.h"
#include "sim/engine/actors.h"
#include "sim/plan.h"
#include "sim/server.h"

namespace syncline {

struct AggregatorState {
  Run& run;
  int node;
  Inbox<Aggregator::Event> events;
  std::deque<std::function<void()>> arrived;             // parameters to decompress first
  std::vector<NodeMessage::Gradient> gradients;          // since the start; read_version unused
  std::vector<std::vector<std::int64_t>> read_versions;  // of each gradient, by server
  std::vector<std::size_t> pulled;     // by server: gradients in the sums sent to it
  std::vector<std::size_t> delivered;  // by server: gradients in the sums it has received
  std::vector<std::int64_t> versions;  // by server: of the parameters here
  std::vector<std::size_t> contained;  // by server: gradients in these
  int rounds = 0;                      // in which every worker of the node has contributed once
  std::vector<int> contributions;      // by worker of the node
  int active_workers = 0;              // of the node: have not ended
  bool reported_end = false;           // the servers were told that all workers have ended

  int rank() const;
  bool finished() const;
  void report(bool last);
  void wake_if_finished();
  // On one message of a server's part of the model.
  void work(Work::Kind kind);
};

}  // namespace syncline

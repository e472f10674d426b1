// The verbs of one shard of the parameter server. A shard holds its part of every bucket.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/registry.h"
#include "sim/schedule.h"

namespace syncline {

struct ServerState;  // sim/engine/server_state.h

// A worker's gradient of one bucket that has arrived.
struct Push {
  int worker = 0;
  int bucket = 0;
  int iteration = 0;              // of the worker: SSP's clock
  std::int64_t read_version = 0;  // of the parameters that it was computed from
};

// From a node: its progress, or the sum of its gradients that the server asked for.
struct NodeMessage {
  int node = 0;
  bool is_sum = false;
  std::int64_t iteration_number = 0;  // gradients from the node's workers since the start
  std::int64_t oldest_version = 0;    // parameters that the oldest unpulled gradient used
  bool last = false;                  // the node's workers have ended
  struct Gradient {
    int worker = 0;
    int iteration = 0;
    std::int64_t read_version = 0;
  };
  std::vector<Gradient> gradients;  // in the sum; can be empty
};

class Server {
 public:
  explicit Server(ServerState& state) : state_(state) {}

  const Settings& settings() const;  // of the schedule
  int workers() const;
  int nodes() const;
  std::int64_t version() const;  // updates of the whole model, for schedules with aggregators

  // Waits for the next gradient; none after all workers have ended.
  std::optional<Push> next_push();
  // Adds the gradient to the parameters.
  void apply(const Push& push);
  // Answers a push with the bucket's parameters as they are now; does not wait for their arrival.
  void reply(const Push& push);
  // How many pushes of this bucket the server has applied from the worker with fewest.
  int slowest(int bucket) const;

  // The same for schedules with node aggregators.
  std::optional<NodeMessage> next_message();
  void ask_for_sum(int node);
  // One update from the gradients of several nodes.
  void apply(const std::vector<NodeMessage>& sums);
  void send_parameters(int node);

 private:
  ServerState& state_;
};

}  // namespace syncline

// The verbs of one shard of the parameter server. A shard holds its part of every bucket.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/registry.h"
#include "sim/schedule.h"

namespace syncline {

struct ServerState;  // sim/engine/server_state.h

// A worker's gradient of one bucket, arrived.
struct Push {
  int worker = 0;
  int bucket = 0;
  int iteration = 0;              // the stamp: the worker's clock
  std::int64_t read_version = 0;  // of the parameters that it was computed at
};

// From a node: how far it has got, or the sum of its gradients that was asked for.
struct NodeMessage {
  int node = 0;
  bool is_sum = false;
  std::int64_t iteration_number = 0;  // gradients its aggregator has had from its workers, ever
  std::int64_t oldest_version = 0;    // of the parameters of the oldest gradient not yet pulled
  bool last = false;                  // its workers have ended
  struct Gradient {
    int worker = 0;
    int iteration = 0;
    std::int64_t read_version = 0;
  };
  std::vector<Gradient> gradients;  // what the sum is made of; can be empty
};

class Server {
 public:
  explicit Server(ServerState& state) : state_(state) {}

  const Settings& settings() const;  // of the schedule
  int workers() const;
  int nodes() const;
  std::int64_t version() const;  // updates of whole models, for node schedules

  // Waits for the next gradient; none when all workers have ended.
  std::optional<Push> next_push();
  // Adds the gradient to the parameters.
  void apply(const Push& push);
  // Answers a push with the bucket's parameters as they are now; does not wait for their arrival.
  void reply(const Push& push);
  // Updates of this bucket that the slowest worker has had applied.
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

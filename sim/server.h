// The verbs of a server. A server holds a shard of the model: an equal share of every bucket, or
// whole tensors (Bucket::parts).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "kernels/registry.h"
#include "sim/schedule.h"

namespace syncline {

struct ServerState;  // sim/engine/server_state.h

// A worker's message about a piece of one bucket that has arrived.
struct Push {
  // A question asks for the parameters; a difference is one of parameters
  // (Worker::push_difference).
  enum class What { gradient, question, difference };
  int worker = 0;
  int bucket = 0;
  int piece = 0;      // number within the bucket: each piece is applied and answered by itself
  int iteration = 0;  // of the worker: SSP's clock
  std::int64_t read_version = 0;  // of the parameters from which it was computed
  double came_s = 0;              // when it arrived, by the server's clock
  What what = What::gradient;
};

// The pushes of one worker for one piece of a bucket that a server has applied.
struct AppliedPushes {
  int count = 0;
  double last_s = 0;      // when the last one came
  double interval_s = 0;  // after the one before
};

// A worker will push no more.
struct WorkerEnd {
  int worker = 0;
};

using WorkerMessage = std::variant<Push, WorkerEnd>;

// What a node reports to the first server.
struct NodeReport {
  int node = 0;
  std::int64_t gradients = 0;  // its iteration number: gradients of its workers since the start
  std::int64_t delivered = 0;  // gradients in sums that every server has received
  std::int64_t sums_delivered = 0;  // number of those sums
  int ended_workers = 0;
};

// A node's sum of its gradients since its last sum; each server gets its shard of it.
struct NodeSum {
  int node = 0;
  std::int64_t update = 0;  // the update that asked for it
  int nodes_in_update = 0;
  std::size_t first = 0;  // number of its first gradient within the node
  struct Gradient {
    int worker = 0;
    int iteration = 0;
    std::int64_t read_version = 0;
  };
  std::vector<Gradient> gradients;
};

using NodeMessage = std::variant<NodeReport, NodeSum>;

class Server {
 public:
  explicit Server(ServerState& state) : state_(state) {}

  const Settings& settings() const;  // of the schedule
  int workers() const;
  int nodes() const;

  // Waits for the next message of a worker; none after all workers have ended.
  std::optional<Push> next_push();
  // As next_push(), for schedules whose servers may wait for workers that have ended.
  std::optional<WorkerMessage> next_push_or_end();
  int working() const;  // number of workers that have not ended
  // Adds the gradient, or the difference, to the parameters, which takes the time that the host's
  // memory needs.
  void apply(const Push& push);
  // Whether this piece of the parameters has been updated since the gradient's were read.
  bool is_late(const Push& push) const;
  // Adds the gradient to a sum, which takes as long as adding it to the parameters.
  void add(const Push& push);
  // One update with these gradients of one piece, which have been added up. Each weighs as much as
  // in an update of its own or, with `staleness-rate = inverse`, as much as in a mean of them.
  void apply(const std::vector<Push>& pushes);
  // The same with their mean, at the learning rate for a mean of all workers' gradients.
  void apply_mean(const std::vector<Push>& pushes);
  // Leaves the gradient out of every update: the worker's iteration counts without it.
  void drop(const Push& push);
  // Answers a push, or a question, with its piece of the parameters as it is now; does not wait for
  // the arrival.
  void reply(const Push& push);
  // By worker: its pushes of this push's piece that the server has applied.
  const std::vector<AppliedPushes>& applied(const Push& push) const;
  int slowest(const Push& push) const;  // the fewest of these

  // Waits for the next message of a node, in schedules with aggregators.
  std::optional<NodeMessage> next_message();
  // Asks a node for its sum, which goes to every server. Each server will make this update from the
  // sums of `nodes_in_update` nodes.
  void ask_for_sum(int node, std::int64_t update, int nodes_in_update);
  // One update from the gradients of several nodes.
  void apply(const std::vector<NodeSum>& sums);
  void send_parameters(int node);

 private:
  ServerState& state_;
};

// Bounded staleness (Ho et al. 2013): answers the held pushes whose workers are at most `staleness`
// iterations ahead of the slowest worker, and holds the others.
inline void reply_within(Server& server, std::vector<Push>& held, double staleness) {
  std::erase_if(held, [&](const Push& push) {
    if (push.iteration + 1 > server.slowest(push) + staleness)
      return false;
    server.reply(push);
    return true;
  });
}

}  // namespace syncline

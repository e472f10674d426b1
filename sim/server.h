// These are the verbs of a server: it holds a shard of the model, an equal share of every bucket.
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

// A piece of a worker's gradient of one bucket that has arrived.
struct Push {
  int worker = 0;
  int bucket = 0;
  int piece = 0;                  // of the bucket: each is applied and answered by itself
  int iteration = 0;              // of the worker: SSP's clock
  std::int64_t read_version = 0;  // of the parameters that it was computed from
  double came_s = 0;              // when it arrived, by the server's clock
};

// A worker will push no more.
struct WorkerEnd {
  int worker = 0;
};

using WorkerMessage = std::variant<Push, WorkerEnd>;

// A node tells the first server this.
struct NodeReport {
  int node = 0;
  std::int64_t gradients = 0;       // its iteration number: of its workers, since the start
  std::int64_t delivered = 0;       // of them, in sums that every server has received
  std::int64_t sums_delivered = 0;  // such sums
  int ended_workers = 0;
};

// A node's sum is of its gradients since its last one; each server gets its shard of it.
struct NodeSum {
  int node = 0;
  std::int64_t update = 0;  // that asked for it
  int nodes_in_update = 0;
  std::size_t first = 0;  // gradient of the node
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

  // Waits for the next gradient; none after all workers have ended.
  std::optional<Push> next_push();
  // The same for schedules whose servers may wait for workers that have ended.
  std::optional<WorkerMessage> next_push_or_end();
  int working() const;  // workers that have not ended
  // Adds the gradient to the parameters, which takes the time that the host's memory needs.
  void apply(const Push& push);
  // The parameters of this piece have been updated since the gradient's were read.
  bool is_late(const Push& push) const;
  // Adds the gradient to a sum, which takes as long as adding it to the parameters.
  void add(const Push& push);
  // One update with the mean of these gradients of one piece, which have been added up.
  void apply_mean(const std::vector<Push>& pushes);
  // The gradient will be in no update: the worker's iteration counts without it.
  void drop(const Push& push);
  // Answers a push with these parameters as they are now; does not wait for their arrival.
  void reply(const Push& push);
  // From the worker with fewest, the server has applied so many pushes of this push's piece.
  int slowest(const Push& push) const;

  // Waits for the next message of a node, in schedules with aggregators.
  std::optional<NodeMessage> next_message();
  // Asks a node for its sum, which goes to every server: each will make this update of the sums of
  // so many nodes.
  void ask_for_sum(int node, std::int64_t update, int nodes_in_update);
  // One update from the gradients of several nodes.
  void apply(const std::vector<NodeSum>& sums);
  void send_parameters(int node);

 private:
  ServerState& state_;
};

}  // namespace syncline

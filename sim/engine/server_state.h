// The state behind a server's verbs: one shard of the parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "sim/engine/actors.h"
#include "sim/learning/learner.h"
#include "sim/plan.h"
#include "sim/server.h"
#include "sim/trace.h"

namespace syncline {

// The gradients of a node that a server has applied.
struct AppliedGradients {
  std::size_t all_before = 0;               // all gradients before this one
  std::map<std::size_t, std::size_t> more;  // beyond a gap: ends by beginnings

  void add(std::size_t first, std::size_t end);
};

struct ServerState {
  Run& run;
  int shard;
  Inbox<WorkerMessage> pushes;
  Inbox<NodeMessage> messages;
  struct Piece {
    std::int64_t version = 0;
    std::vector<AppliedPushes> applied;  // by worker
    int slowest = 0;                     // the fewest pushes of a worker
    int slowest_workers = 0;             // that have as few
  };
  std::vector<Piece> pieces;  // of all buckets (Run::piece)
  // Bytes of the push just added whose memory time is still to be taken, before the next push.
  std::uint64_t to_update = 0;
  std::int64_t version = 0;  // updates of the whole model
  std::vector<AppliedGradients> applied_of_node;

  int rank() const;
  Piece& piece_of(const Push& push);
  Row row(const Push& push) const;  // of work on this push
  // Bytes of this server's share of a message that are added as they are. Compressed bytes are
  // decoded instead, at a cost of its own.
  std::uint64_t added_bytes(const Payload& payload) const;
  // Moves these bytes in memory: into the parameters or, where workers have parameters of their
  // own, into a sum.
  void move(std::uint64_t bytes, Row row);
  // Handles the message of a gradient in the server's software.
  void receive(const Push& push);
  // Decodes a push's gradient and adds it to the values in memory.
  void add(const Push& push);
  // The time and the rows of an update with these gradients, which `learn` makes: it gets the
  // piece, its earlier updates, and the gradients.
  using Learn = std::function<void(const PieceOf&, std::int64_t updates,
                                   const std::vector<Learner::Pushed>&)>;
  void apply_sum(const std::vector<Push>& pushes, const Learn& learn);
  // Records that a worker's gradient of a bucket has been applied or dropped.
  void count(const Push& push, bool applied);
  // Encodes or decodes messages of this server's share of a bucket.
  void work(Work::Kind kind, const Bucket& bucket, int iteration, int messages = 1);
};

}  // namespace syncline

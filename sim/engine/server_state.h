// The state behind a server's verbs: one shard of the parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/engine/actors.h"
#include "sim/plan.h"
#include "sim/server.h"
#include "sim/trace.h"

namespace syncline {

// A server has applied these of a node's gradients.
struct AppliedGradients {
  std::size_t all_before = 0;               // all of the first so many
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
    std::vector<int> applied;  // by worker
    int slowest = 0;           // the minimum of `applied`
  };
  std::vector<Piece> pieces;    // of all buckets (Run::piece)
  std::uint64_t to_update = 0;  // bytes of the last push, before it takes the next
  std::int64_t version = 0;     // updates of whole models
  std::vector<AppliedGradients> applied_of_node;

  int rank() const;
  Piece& piece_of(const Push& push);
  Row row(const Push& push) const;  // of work on it
  // So much of its share of a message is added as it is: reading messages has prices of its own.
  std::uint64_t added_bytes(const Payload& payload) const;
  // Handles the message of a gradient.
  void receive(const Push& push);
  // Takes the gradient from it and adds it to what is in memory.
  void add(const Push& push);
  // A worker's gradient of a bucket has been dealt with here.
  void count(const Push& push, bool applied);
  // Works on messages of this server's share of a bucket.
  void work(Work::Kind kind, const Bucket& bucket, int iteration, int messages = 1);
};

}  // namespace syncline

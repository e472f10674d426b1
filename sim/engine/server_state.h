// The state behind a server's verbs: one shard of the parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/engine/actors.h"
#include "sim/plan.h"
#include "sim/server.h"

namespace syncline {

struct ServerState {
  Run& run;
  int shard;
  Inbox<Push> pushes;
  Inbox<NodeMessage> messages;
  std::vector<std::int64_t> versions;     // by bucket
  std::vector<std::vector<int>> applied;  // by bucket and worker
  std::vector<int> slowest;               // by bucket: the minimum of `applied`
  std::int64_t version = 0;               // updates of whole models
  std::vector<std::size_t> received;      // by node: gradients in its sums, since the start

  int rank() const;
  // On messages of this server's part of a bucket.
  void work(Work::Kind kind, const Bucket& bucket, int iteration, int messages = 1);
};

}  // namespace syncline

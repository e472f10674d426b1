// The state behind a worker's verbs.
//
// A worker has two actors. One runs its schedule and is its compute stream. The other is its
// communication stream, which runs jobs first in, first out (with `ps`: one per stage). Where the
// host has a second core, a third one compresses there.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "sim/engine/actors.h"
#include "sim/engine/stages.h"
#include "sim/trace.h"
#include "sim/worker.h"

namespace syncline {

struct WorkerState {
  Run& run;
  int rank;
  Stages stages;
  StreamState& stream = *stages.streams.front();  // of everything that is no pipeline
  JobQueue compressing{run};                      // where the host has a second core
  int iteration = -1;
  double slowdown = 1;                          // jitter of this iteration
  std::vector<std::function<void()>> deferred;  // transfers that wait for the end of backward
  int outstanding = 0;  // averages, or answers to pushes, that have not arrived
  std::deque<std::function<void()>> arrived;  // jobs for the compute stream: to decompress
  Wakeup wakeup;
  std::optional<Row> answers;                           // the row that collects overlapping answers
  std::vector<std::vector<std::int64_t>> read_version;  // by server and bucket
  std::vector<std::size_t> own_gradients;  // how many its node had with each of this worker's
};

// If so, computation goes on meanwhile.
bool compresses_on_second_core(const WorkerState& worker);

// Records an answer that has just arrived: answers that overlap in time share one row, because a
// worker gets many of them.
void add_answer(WorkerState& worker, double sent_s, std::uint64_t bytes);

}  // namespace syncline

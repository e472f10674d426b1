// What is behind a worker's verbs.
//
// A worker has two actors. One runs its schedule and is its compute stream. The other is its
// communication stream, which runs jobs first in, first out. Where the host has a second core, a
// third one compresses there.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "sim/engine/actors.h"
#include "sim/engine/stream.h"
#include "sim/trace.h"
#include "sim/worker.h"

namespace syncline {

struct WorkerState {
  Run& run;
  int rank;
  StreamState stream;
  Jobs compressing{run};  // where the host has a second core
  int iteration = -1;
  double slowdown = 1;                          // jitter of this iteration
  std::vector<std::function<void()>> deferred;  // jobs that wait for the end of backward
  int outstanding = 0;                          // averages, or answers to pushes, not yet here
  std::deque<std::function<void()>> arrived;    // jobs for the compute stream: to decompress
  Wakeup wakeup;
  std::optional<Row> answers;                           // a time during which some were under way
  std::vector<std::vector<std::int64_t>> read_version;  // by server and bucket
  std::int64_t handed_over = 0;  // gradients of its node, ever, with its last
};

// So that computing goes on meanwhile.
bool compresses_on_second_core(const WorkerState& worker);

// Enters an answer that has just arrived into the rows of its worker: answers whose times touch are
// one row, so that a worker's many answers are not as many rows.
void add_answer(WorkerState& worker, double set_out_s, std::uint64_t bytes);

}  // namespace syncline

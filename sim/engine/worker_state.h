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
#include <string_view>
#include <utility>
#include <vector>

#include "sim/engine/actors.h"
#include "sim/engine/processor.h"
#include "sim/engine/stages.h"
#include "sim/learning/learner.h"
#include "sim/trace.h"
#include "sim/worker.h"

namespace syncline {

// The last answer brought these parameters of one server's share of a piece.
struct CachedPiece {
  std::int64_t version = 0;  // how many updates they have
  int clock = 0;             // they have all updates of all workers of the first so many iterations
  int own = 0;               // and this worker's of so many
};

struct WorkerState {
  Run& run;
  int rank;
  Stages stages;
  StreamState& stream = *stages.streams.front();  // of everything that is no pipeline
  JobQueue compressing{run};                      // where the host has a second core
  Processor processor;
  int iteration = -1;
  bool over = false;                            // that was its last one
  double slowdown = 1;                          // jitter of this iteration
  std::vector<std::function<void()>> deferred;  // transfers that wait for the end of backward
  int outstanding = 0;         // averages over all, or answers to pushes, that have not arrived
  std::vector<int> gathering;  // by unit: gathers of its parameters that have not arrived
  int outstanding_within = 0;  // averages in its group that have not arrived
  std::optional<double> stepped_s;            // its last step in this iteration
  std::deque<std::function<void()>> arrived;  // jobs for the compute stream: to decompress
  Wakeup wakeup;
  std::optional<Row> answers;                 // the row that collects overlapping answers
  std::vector<std::int64_t> answer_messages;  // of that row
  // By server and piece (Run::piece); with aggregators a shard is one.
  std::vector<std::vector<std::int64_t>> read_version;
  std::vector<std::vector<CachedPiece>> cache;    // by server and piece
  std::vector<int> answers_of;                    // by bucket: that have arrived
  std::deque<std::pair<int, int>> to_decompress;  // bucket and iteration of answers that arrived
  int buckets_in_flight = 0;                      // pushed, and not answered by all servers
  bool waits_for_fresh = false;            // for what the next answer brings, not for all answers
  std::size_t fresh = 0;                   // cached pieces that are known to be fresh enough
  std::vector<std::size_t> own_gradients;  // how many its node had with each of this worker's
  std::string_view waits_in;               // this call; empty: it does not wait

  const Setup& setup() const;
  const Cluster& cluster() const;
  // A row of the compute stream.
  Row row(Verb verb, int bucket = -1) const;
  // Blocks the compute stream in this call until `ready`, and records that in the trace.
  void wait_until(std::string_view call, const std::function<bool()>& ready);
  // If so, computation goes on meanwhile.
  bool compresses_on_second_core() const;
};

struct SentMessage;  // sim/engine/wire.h
struct Push;         // sim/server.h

// So many answers come to a push: of all servers and pieces.
int answers_to_a_push(const WorkerState& worker, int bucket);

// Queues sending each server its share of a message on the communication stream, piece after piece.
void push_to_servers(WorkerState& worker, const Bucket& bucket, int iteration,
                     std::uint64_t message_bytes);

// A server's answer to this push has arrived. Answers that overlap in time share one row, because
// a worker gets many of them.
void answer_arrived(WorkerState& worker, int shard, const Push& push, const CachedPiece& answer,
                    const Learner::Answer& values, const SentMessage& message);

// Ends the row of answers.
void end_answers(WorkerState& worker);

// The next iteration uses the cached parameters, with this worker's own updates.
void read_cache(WorkerState& worker);

// All of the cached parameters have all workers' updates of so many iterations.
int oldest_clock(const WorkerState& worker);
// Whether they have the updates of `clock` iterations. This is asked at each answer, so the first
// `worker.fresh` pieces, which were found to have them, are not looked at again.
bool is_fresh(WorkerState& worker, double clock);

}  // namespace syncline

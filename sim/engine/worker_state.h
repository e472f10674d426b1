// The state behind a worker's verbs.
//
// One actor of a worker runs its schedule and is its compute stream. Each of its communication
// streams (sim/engine/stages.h) is another actor that runs jobs first in, first out; with node
// aggregators there is none. Where the host has a second core, another actor compresses there.
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
#include "sim/server.h"
#include "sim/trace.h"
#include "sim/worker.h"

namespace syncline {

// Parameters of one server's share of a piece, as the newest answer brought them.
struct CachedPiece {
  std::int64_t version = 0;  // updates that they contain
  int clock = 0;             // they contain all workers' updates of iterations before this one
  int own = 0;               // and this worker's updates of iterations before this one
};

// Another worker's parameters that have come.
struct CopyOfParameters {
  int from = 0;
  SharedValues values;  // null: only time is simulated
};

struct WorkerState {
  Run& run;
  int rank;
  Stages stages;
  StreamState& stream = *stages.streams.front();  // for everything outside pipelines
  JobQueue compressing{run};                      // where the host has a second core
  Processor processor;
  int iteration = -1;
  bool over = false;                            // there is no next iteration
  double slowdown = 1;                          // jitter factor of this iteration
  std::vector<std::function<void()>> deferred;  // transfers that wait for the end of backward
  // Averages over all, or answers to pushes and questions, and differences, that have not arrived.
  int outstanding = 0;
  std::vector<int> gathering;       // by unit: gathers of its parameters that have not arrived
  int outstanding_within = 0;       // averages in its group that have not arrived
  std::optional<double> stepped_s;  // when its last step of this iteration ended
  std::deque<std::function<void()>> arrived;  // decompressions that wait for the compute stream
  Wakeup wakeup;
  std::optional<Row> answers;                 // the row that collects overlapping answers
  std::vector<std::int64_t> answer_messages;  // messages of that row
  // By server and piece (Run::piece). With aggregators each shard is one piece.
  std::vector<std::vector<std::int64_t>> read_version;
  std::vector<std::vector<CachedPiece>> cache;    // by server and piece
  std::vector<int> answers_of;                    // by bucket: answers that have arrived
  std::deque<std::pair<int, int>> to_decompress;  // bucket and iteration of answers that arrived
  int buckets_in_flight = 0;                      // pushed, and not yet answered by all servers
  bool waits_for_fresh = false;                   // every answer wakes it, not only the last one
  std::size_t fresh = 0;  // leading pieces of `cache` that are known to be fresh enough
  // By gradient of this worker: the number of its node's gradients up to this one.
  std::vector<std::size_t> own_gradients;
  std::deque<CopyOfParameters> copies;  // that have come and have not been received
  Wakeup answering;                     // of the actor that answers copies
  int waits_for = -1;                   // the worker whose copy it waits for; -1: none
  std::string_view waits_in;            // the call in which it waits; empty: it does not wait

  const Setup& setup() const;
  const Cluster& cluster() const;
  // Makes a row of the compute stream.
  Row row(Verb verb, int bucket = -1) const;
  // Blocks the compute stream in `call` until `ready`, and records the wait in the trace.
  void wait_until(std::string_view call, const std::function<bool()>& ready);
  // If true, computation goes on during compression.
  bool compresses_on_second_core() const;
};

// Starts the transfers that `overlap = off` has put off.
void start_deferred(WorkerState& worker);

struct SentMessage;  // sim/engine/wire.h

// Number of answers to a push, from all servers and for all pieces.
int answers_to_a_push(const WorkerState& worker, int bucket);

// Queues sending each server its share of a message on the communication stream, piece after piece.
// A question has bytes of its own.
void push_to_servers(WorkerState& worker, const Bucket& bucket, int iteration,
                     std::uint64_t message_bytes, Push::What what);

// Takes a server's answer to a push. Answers that overlap in time share one row, because a worker
// gets many of them.
void answer_arrived(WorkerState& worker, int shard, const Push& push, const CachedPiece& answer,
                    const Learner::Answer& values, const SentMessage& message);

// Ends the row of answers.
void end_answers(WorkerState& worker);

// Makes the next iteration use the cached parameters, with this worker's own updates.
void read_cache(WorkerState& worker);

// Number of leading iterations whose updates, of all workers, are in all of the cached parameters.
int oldest_clock(const WorkerState& worker);
// True if all cached parameters contain all updates of the first `clock` iterations. This is asked
// at each answer, so the first `worker.fresh` pieces, already found fresh, are skipped.
bool is_fresh(WorkerState& worker, double clock);

}  // namespace syncline

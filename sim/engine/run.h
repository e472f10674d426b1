// One run: its actors, and the state that their verbs share.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <simgrid/s4u.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/clock/run_length.h"
#include "sim/engine/actors.h"
#include "sim/engine/aggregator_state.h"
#include "sim/engine/cycles.h"
#include "sim/engine/server_state.h"
#include "sim/engine/stages.h"
#include "sim/engine/wire.h"
#include "sim/engine/worker_state.h"
#include "sim/learning/learner.h"
#include "sim/plan.h"
#include "sim/setup/setup.h"
#include "sim/trace.h"

namespace syncline {

struct Run {
  explicit Run(const Setup& setup);

  const Setup& setup;
  RunLength length;
  Trace trace;
  Wire wire;
  std::vector<PushedPieces> cuts;  // by bucket: how it is cut for servers that answer pushes
  std::vector<sg::Host*> hosts;    // by rank
  std::map<std::pair<int, int>, Barrier> barriers;  // by stage and group
  std::unique_ptr<Learner> learner;                 // null: only time is simulated
  std::unique_ptr<Cycles> cycles;                   // null: each average begins as soon as it may
  std::vector<std::unique_ptr<WorkerState>> workers;
  std::vector<std::unique_ptr<ServerState>> servers;
  std::vector<std::unique_ptr<Stages>> server_stages;
  std::vector<std::unique_ptr<AggregatorState>> aggregators;
  int active_workers = 0;        // workers that have not ended
  int active_actors = 0;         // workers, servers and aggregators that have not ended
  std::vector<int> first_piece;  // by bucket: the number of pieces of the buckets before
  std::string error;

  bool over() const { return active_actors == 0; }
  Stages& stages_of(int rank);  // of a worker or a server
  // Index of a piece among the pieces of all buckets.
  std::size_t piece(int bucket, int piece) const {
    return index(first_piece[index(bucket)] + piece);
  }
  // Traffic::payload_of, cached.
  std::shared_ptr<const Payload> payload(const Bucket& bucket, int iteration);
  void end_row(std::size_t row) { trace.rows[row].end_s = sg::Engine::get_clock(); }
  // Tells the learner that gradients of whole iterations have been applied. Ends the run if
  // learning has ended.
  void learned(double gradients);
  // Adds a row that began at `start_s` and ends now.
  void add_row(double start_s, Row row);
  // Does compression work in the calling actor and adds a row. On a worker's host the work shares
  // the device with other computation; on a server's own host it only takes time.
  void work(const Work& work, Row row);
  // The same for messages of a shard of this bucket; nothing if none of it is compressed.
  void work_on_shard(Work::Kind kind, const Bucket& bucket, int messages, Row row);
  // The software of row.rank's server handles messages of `tensors` tensors, in a row `handle`. All
  // cores of its host work on them; servers on one host take turns.
  void handle(double tensors, Row row);
  // Adds bytes to a sum in the memory of row.rank's host, or updates parameters with them, in rows
  // `sum` and `update`. Ranks on one host take turns, because they share its memory.
  void sum(std::uint64_t bytes, Row row);
  void update(std::uint64_t bytes, Row row);
  // Adds bytes that came in `partitions` partitions. All but the first took `coming_s` to come;
  // each is added while the next one comes.
  void sum_of_partitions(std::uint64_t bytes, int partitions, double coming_s, Row row);
  // Tells a worker's processor that a collective begins, or ends. Does nothing for other ranks,
  // which do not compute beside collectives.
  void collective_begins(int rank);
  void collective_ends(int rank);
  // Starts an actor. An exception in it ends the run with an error instead of an abort.
  sg::ActorPtr start(const std::string& name, int rank, std::function<void()> body);
  void actor_ended(int rank);

 private:
  void make_states();
  // By host: until when ranks that have taken turns so far use a resource of it.
  using Turns = std::unordered_map<const sg::Host*, double>;
  void use_memory(double bytes, Row row);
  void take_turn(Turns& turns, double seconds, Row row);
  Turns memories_, cores_;
  double service_shape_;  // of the random variation in the times of servers' software
  std::map<std::pair<int, int>, std::shared_ptr<const Payload>>
      common_payloads_;  // by warm-up stage and bucket
  std::map<std::pair<int, int>, std::shared_ptr<const Payload>>
      drawn_payloads_;  // by iteration and bucket
};

}  // namespace syncline

// One run: its actors, its messages, its counters.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <simgrid/s4u.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/engine/actors.h"
#include "sim/engine/aggregator_state.h"
#include "sim/engine/length.h"
#include "sim/engine/porter.h"
#include "sim/engine/server_state.h"
#include "sim/engine/stages.h"
#include "sim/engine/worker_state.h"
#include "sim/learning/learner.h"
#include "sim/plan.h"
#include "sim/setup/platform.h"
#include "sim/setup/setup.h"
#include "sim/trace.h"

namespace syncline {

// Control messages: a node's iteration number, a request for its sum.
constexpr std::uint64_t control_bytes = 64;

// A message that has set out, of a server's part of the model.
struct ShardMessage {
  double sent_s;
  std::uint64_t bytes;  // on the network
  std::int64_t number;  // in the trace
};

struct Run {
  explicit Run(const Setup& setup);

  const Setup& setup;
  Length length;
  Trace trace;
  Routes routes;
  std::vector<sg::Host*> hosts;                     // by rank
  std::map<std::pair<int, int>, Barrier> barriers;  // by stage and group
  std::map<std::uint64_t, double> bytes_between;    // by from * ranks + to
  double bytes_sent = 0;                            // by all, on the network
  std::unique_ptr<Learner> learner;                 // null: only time is simulated
  std::vector<std::unique_ptr<WorkerState>> workers;
  std::vector<std::unique_ptr<ServerState>> servers;
  std::vector<std::unique_ptr<Stages>> server_stages;
  std::vector<std::unique_ptr<AggregatorState>> aggregators;
  int active_workers = 0;        // have not ended
  int active_actors = 0;         // workers, servers and aggregators that have not ended
  std::vector<Cut> cuts;         // by bucket: how it is pushed to servers that answer
  std::vector<int> first_piece;  // by bucket: pieces of those before
  std::string error;

  bool over() const { return active_actors == 0; }
  Stages& stages_of(int rank);  // of a worker or a server
  bool on_different_hosts(int from, int to) const {
    return hosts[static_cast<std::size_t>(from)] != hosts[static_cast<std::size_t>(to)];
  }
  // A piece's place among those of all buckets.
  std::size_t piece(int bucket, int piece) const {
    return index(first_piece[index(bucket)] + piece);
  }
  // Traffic::payload_of, cached.
  std::shared_ptr<const Payload> payload(const Bucket& bucket, int iteration);
  // Counts a transfer and returns the bytes that it puts on the network: none between ranks on one
  // host.
  std::uint64_t on_the_wire(int from, int to, std::uint64_t bytes);
  // How much later than its flow ends a message arrives that sets out now.
  double latency_after_flow_s(int from, int to);
  // Sends a message and returns. `arrived` runs when the message arrives, with the time when it was
  // sent; `injected`, if not empty, when it has left the sender. Neither may wait.
  void deliver(int from, int to, std::uint64_t bytes, std::function<void(double)> arrived,
               std::function<void()> injected = {});
  // The same with a row at each end, of this verb.
  void send(int from, int to, std::uint64_t bytes, std::string_view verb,
            std::function<void()> arrived);
  // The same for bytes of a server's part of the model, which may go to, or come from, several
  // nodes (Setup::node_parts): `arrived` and `injected` run with the last.
  ShardMessage deliver_shard(int from, int to, std::uint64_t bytes,
                             std::function<void(const ShardMessage&)> arrived,
                             std::function<void()> injected = {});
  void send_shard(int from, int to, std::uint64_t bytes, std::string_view verb,
                  std::function<void()> arrived);
  void end_row(std::size_t row) { trace.rows[row].end_s = sg::Engine::get_clock(); }
  // The number in the trace of a message that sets out now. Where the trace keeps no messages, here
  // and below: any, and nothing happens.
  std::int64_t message_sent(int from, int to, std::uint64_t bytes);
  void message_arrived(std::int64_t message, double at_s);
  // The last row of the trace, or one before it, sends or receives these.
  void sends(const std::vector<std::int64_t>& messages, std::size_t rows_before = 0);
  void receives(const std::vector<std::int64_t>& messages, std::size_t rows_before = 0);
  // A gradient, or one of each worker, has been applied in whole.
  void learned(int gradients);
  // A row that began at `start_s` and ends now.
  void add_row(double start_s, Row row);
  // Does this work in the calling actor and adds a row. On a worker's host it shares the device
  // with other computation; on a server's own host it only takes time.
  void work(const Work& work, Row row);
  // The same for messages of a server's part of this bucket, if any of it is compressed.
  void work_on_shard(Work::Kind kind, const Bucket& bucket, int messages, Row row);
  // Adds so many bytes to a sum in the memory of row.rank's host, or updates parameters by them:
  // rows `sum` and `update`. Those who do so on one host take turns, because they share its memory.
  void sum(std::uint64_t bytes, Row row);
  void update(std::uint64_t bytes, Row row);
  // Adds bytes that came in so many parts, of which all but the first took `coming_s` to come: each
  // is added while the next one comes.
  void sum_of_parts(std::uint64_t bytes, int parts, double coming_s, Row row);
  // Starts an actor. An exception in it ends the run with an error instead of an abort.
  sg::ActorPtr start(const std::string& name, int rank, std::function<void()> body);
  void actor_ended(int rank);

 private:
  void use_memory(double bytes, Row row);
  // Between these ranks, of which one is a server: each pair of ranks and its bytes.
  struct Hop {
    int from;
    int to;
    std::uint64_t bytes;
  };
  std::vector<Hop> hops(int from, int to, std::uint64_t bytes) const;
  void add_send_rows(int from, int to, std::string_view verb, const ShardMessage& message);
  Porter& porter(int rank);
  std::vector<std::unique_ptr<Porter>> porters_;  // by rank; null where it has sent and got nothing
  std::map<std::string, sg::MutexPtr> memories_;  // by host
  std::map<std::pair<int, int>, std::shared_ptr<const Payload>>
      common_payloads_;  // by warm-up stage and bucket
  std::map<std::pair<int, int>, std::shared_ptr<const Payload>>
      drawn_payloads_;  // by iteration and bucket
};

}  // namespace syncline

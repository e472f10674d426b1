// One run: its actors, its messages, its books.
//
// Messages outside collectives (pushes, answers, iteration numbers) are received by couriers, an
// actor per message in flight, so that many can be under way to one place. (SimGrid's Comm::sendto
// would need no receiver, but is quadratic in the messages in flight.)
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
#include "sim/engine/server_state.h"
#include "sim/engine/stream.h"
#include "sim/engine/worker_state.h"
#include "sim/plan.h"
#include "sim/setup/platform.h"
#include "sim/setup/setup.h"
#include "sim/trace.h"

namespace syncline {

// Messages that only steer: a node's iteration number, a request for its sum.
constexpr std::uint64_t control_bytes = 64;

struct Run {
  explicit Run(const Setup& setup);

  const Setup& setup;
  Trace trace;
  Routes routes;
  std::vector<sg::Host*> hosts;  // by rank
  std::unordered_map<int, Gate> gates;
  std::map<std::uint64_t, double> bytes_between;  // by from * ranks + to
  std::vector<std::unique_ptr<WorkerState>> workers;
  std::vector<std::unique_ptr<ServerState>> servers;
  std::vector<std::unique_ptr<StreamState>> server_streams;
  std::vector<std::unique_ptr<AggregatorState>> aggregators;
  int working = 0;  // workers that have not ended
  int acting = 0;   // workers, servers and aggregators that have not ended
  std::string error;

  bool over() const { return acting == 0; }
  StreamState& stream_of(int rank);  // of a worker or a server
  bool apart(int from, int to) const {
    return hosts[static_cast<std::size_t>(from)] != hosts[static_cast<std::size_t>(to)];
  }
  // What stands for a bucket in an iteration (Traffic::payload_of), the same for all who ask.
  std::shared_ptr<const Payload> payload(const Bucket& bucket, int iteration);
  // Bytes that a transfer puts on the network, which it enters in the books: none between ranks on
  // one host.
  std::uint64_t on_the_wire(int from, int to, std::uint64_t bytes);
  // Sends a message and returns. `arrived` runs when it is there, with when it set out.
  void deliver(int from, int to, std::uint64_t bytes, std::function<void(double)> arrived);
  // The same with a row at each end, of this verb.
  void send(int from, int to, std::uint64_t bytes, std::string_view verb,
            std::function<void()> arrived);
  void end_row(std::size_t row) { trace.rows[row].end_s = sg::Engine::get_clock(); }
  // A row that began at `start_s` and ends now.
  void add_row(double start_s, Row row);
  // Works on messages in the calling actor, with a row. A worker's device shares itself with what
  // else it computes; a server on a host of its own only spends the time.
  void work(const Work& work, Row row);
  // The same on messages of a server's part of this bucket, where it has any.
  void work_on_shard(Work::Kind kind, const Bucket& bucket, int messages, Row row);
  // Starts an actor whose errors end the run as an error instead of an abort.
  void start(const std::string& name, int rank, std::function<void()> main);
  void one_has_ended(int rank);

 private:
  struct Letter;
  // Where messages to a rank arrive, and how many from it are under way.
  struct Postbox {
    sg::Mailbox* mailbox = nullptr;
    int free_couriers = 0;  // that wait for a message nobody has sent yet
    int in_flight = 0;
    Wakeup settled;
  };
  // Sends from the calling actor's own host.
  sg::CommPtr post(int from, int to, std::uint64_t bytes, std::function<void(double)> arrived);
  void carry(int to);               // a courier's life
  void settle(int rank);            // waits until everything this rank has sent is there
  std::vector<Postbox> postboxes_;  // by rank
  std::map<std::pair<int, int>, std::shared_ptr<const Payload>> alike_;  // by stage and bucket
  std::map<std::pair<int, int>, std::shared_ptr<const Payload>> drawn_;  // by iteration and bucket
};

}  // namespace syncline

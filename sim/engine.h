// The state behind the verbs: what sim/worker.cpp, server.cpp, aggregator.cpp and stream.cpp share.
// Only these, platform.cpp and simulation.cpp know SimGrid.
//
// A worker has two actors. One runs its schedule and is its compute stream. The other is its
// communication stream, which runs jobs first in, first out. Messages outside collectives (pushes,
// answers, iteration numbers) are received by couriers, an actor per message in flight, so that
// many can be under way to one place. (SimGrid's Comm::sendto would need no receiver, but is
// quadratic in the messages in flight.)
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <simgrid/s4u.hpp>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "sim/aggregator.h"
#include "sim/plan.h"
#include "sim/server.h"
#include "sim/simulation.h"
#include "sim/trace.h"

namespace syncline {

namespace sg = simgrid::s4u;

// One actor that sleeps until it is told to look again: it looks, waits, and looks again. Two
// cannot wait on the same one.
class Wakeup {
 public:
  void wait() {
    waiting_ = true;
    semaphore_->acquire();
    waiting_ = false;
  }
  void wake() {
    if (waiting_) {
      waiting_ = false;
      semaphore_->release();
    }
  }

 private:
  sg::SemaphorePtr semaphore_ = sg::Semaphore::create(0);
  bool waiting_ = false;
};

struct Run;

// An actor that does jobs, first in, first out, until the run is over.
struct Jobs {
  Run& run;
  std::deque<std::function<void()>> waiting;
  Wakeup wakeup;  // a job has come, or the run is over

  void add(std::function<void()> job);
  void main();
};

// The communication stream of a worker, or of a server that takes part in collectives.
struct StreamState {
  Run& run;
  int rank;
  Jobs jobs{run};
  Wakeup wakeup;  // a job of this stream goes on
  Wakeup gate;    // the members of a phase have arrived, or have ended
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, std::shared_ptr<const Plan>>
      plans;                                       // of the exchange, by payload
  std::unordered_map<int, sg::Mailbox*> to, from;  // by the other rank
  std::unordered_map<int, double> latencies;       // by the other rank
  std::optional<std::size_t> last_row;             // of this stream in the trace
  std::deque<double> handed;  // what ranks on this host gave to this one, and when
  Wakeup handing;

  // This rank's part in averaging one bucket.
  std::shared_ptr<const Plan> plan(const Bucket& bucket, int iteration);
  // Carries it out, but for the work that the plan begins and ends with. `done` runs when it has
  // ended, and that may be after this returns, in another actor: nobody needs to be woken just to
  // hear of it.
  void average(const Plan& plan, const Bucket& bucket, int iteration,
               const std::function<void()>& done);

 private:
  void phase(const Phase& phase, const Bucket& bucket, int iteration, bool last,
             const std::function<void()>& done);
  void as_flows(const Phase& phase);
  // When its first byte moved.
  double as_step(const Phase& phase, int step);
  // Sends and receives one of `parts` parts of every transfer; returns when the first began to
  // move.
  double transfer(const Phase& phase, int parts, int part);
  double latency_to(int peer);
};

// Where the members of a phase meet, before it and (as flows) after it.
struct Gate {
  int arrived = 0;
  int finished = 0;
  std::vector<StreamState*> waiting;
  std::vector<std::function<void()>> done;
};

// Messages that a server or an aggregator has not looked at yet.
template <class Message>
struct Inbox {
  std::deque<Message> messages;
  Wakeup wakeup;

  void add(Message message) {
    messages.push_back(std::move(message));
    wakeup.wake();
  }
};

// The next message, or none once `over`.
template <class Message, class Over>
std::optional<Message> next_in(Inbox<Message>& inbox, Over over) {
  while (inbox.messages.empty()) {
    if (over())
      return std::nullopt;
    inbox.wakeup.wait();
  }
  Message message = std::move(inbox.messages.front());
  inbox.messages.pop_front();
  return message;
}

// Messages that only steer: a node's iteration number, a request for its sum.
constexpr std::uint64_t control_bytes = 64;

inline std::size_t index(int i) {
  return static_cast<std::size_t>(i);
}

// The work that a plan begins or ends with: null where it is a transfer.
const Phase* first_work(const Plan& plan);
const Phase* last_work(const Plan& plan);

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

// Has a second core for that, so that computing goes on.
bool compresses_beside(const WorkerState& worker);

// Enters an answer that has just arrived into the rows of its worker: answers whose times touch are
// one row, so that a worker's many answers are not as many rows.
void add_answer(WorkerState& worker, double set_out_s, std::uint64_t bytes);

struct ServerState {
  Run& run;
  int shard;
  Inbox<Push> pushes;
  Inbox<NodeMessage> messages;
  std::vector<std::int64_t> versions;     // by bucket
  std::vector<std::vector<int>> applied;  // by bucket and worker
  std::vector<int> slowest;               // by bucket: the least of `applied`
  std::int64_t version = 0;               // updates of whole models
  std::vector<std::size_t> received;      // by node: gradients in its sums, ever

  int rank() const;
  // Makes or reads messages of this shard's part of a bucket, and takes the time for it.
  void work(std::string_view verb, const Bucket& bucket, int iteration, int messages);
};

struct AggregatorState {
  Run& run;
  int node;
  Inbox<Aggregator::Event> events;
  std::deque<std::function<void()>> arrived;             // parameters to decompress first
  std::vector<NodeMessage::Gradient> gradients;          // ever; read_version unused
  std::vector<std::vector<std::int64_t>> read_versions;  // of each gradient, by server
  std::vector<std::size_t> pulled;     // by server: gradients in the sums sent to it
  std::vector<std::size_t> delivered;  // by server: gradients in the sums it has
  std::vector<std::int64_t> versions;  // by server: of the parameters here
  std::vector<std::size_t> contained;  // by server: gradients in these
  int rounds = 0;                      // in which every worker of the node has contributed
  std::vector<int> contributions;      // by worker of the node
  int working = 0;                     // workers of the node that have not ended
  bool said_last = false;              // its servers know that they have

  int rank() const;
  bool finished() const;
  void report(bool last);
  void tell_if_finished();
  // Makes or reads one message of a shard's part of the model, and takes the time for it.
  void work(std::string_view verb);
};

struct Run {
  explicit Run(const Setup& setup);

  const Setup& setup;
  const Exchange& exchange;
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
  // What stands for a bucket in an iteration (Setup::payload_of), the same for all who ask.
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
  // Compresses or decompresses in the calling actor. A worker's device shares itself with what else
  // it computes; a server on a host of its own only spends the time.
  void work(const Phase& phase, Row row);
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

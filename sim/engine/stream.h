// A communication stream executes phases on SimGrid, one after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/engine/actors.h"
#include "sim/plan.h"
#include "sim/trace.h"

namespace syncline {

struct Barrier;
struct CollectiveMessage;  // sim/engine/transfers.cpp

// The stream of a worker, or of a server that takes part in collectives.
struct StreamState {
  Run& run;
  int rank;
  int stage = 0;  // whose phases this stream executes (sim/engine/stages.h)
  JobQueue jobs{run};
  Wakeup wakeup;    // wakes the current job
  Wakeup upstream;  // the previous stage has ended a piece, or a bucket has passed all stages
  Wakeup released;  // all members of a phase have arrived, or all have finished
  bool ends_later = false;  // the previous phase lasts until all its members have ended
  Wakeup ended;             // the previous phase has ended for all
  sg::ActorPtr actor;       // runs the jobs
  std::unordered_map<int, sg::Mailbox*> to, from;              // by the other rank
  std::unordered_map<int, sg::Mailbox*> eager_to, eager_from;  // the same
  std::optional<std::size_t> last_row;  // the last row of this stream in the trace
  struct Local {
    double at_s;
    std::int64_t message;
  };
  std::deque<Local> local_arrivals;  // from ranks on the same host
  Wakeup local_arrival;
  // Messages from one rank, where SharedFlows moves them: those that this stream has not taken yet,
  // and how many of these it has asked for.
  struct Box {
    std::deque<std::shared_ptr<CollectiveMessage>> messages = {};
    std::size_t asked = 0;
  };
  std::map<std::pair<int, bool>, Box> boxes;  // by sender, and whether it is eager
  int moving = 0;  // own messages, and messages asked for, whose flows have not ended
  Wakeup moved;    // none of them moves any more
  std::vector<std::int64_t> sent, received;  // messages of the current phase
  const Phase* current = nullptr;            // the phase under way
  int current_bucket = 0;                    // the bucket of that phase

  // Executes the plan except its first and last work. `done` runs when the plan has ended, perhaps
  // after this call has returned and in another actor, so that no actor is woken only to be
  // informed.
  void average(const Plan& plan, const Bucket& bucket, int iteration,
               const std::function<void()>& done);
  // Executes one phase. `done`, if not empty, runs when the phase has ended for this rank.
  void phase(const Phase& phase, const Bucket& bucket, int iteration,
             const std::function<void()>& done);

  Row row(Verb verb, int bucket, int iteration) const;

 private:
  // Waits until all members of the phase have arrived.
  void meet(Barrier& barrier, int group_size);
  // Adds to the row the bytes that the phase moves over the network.
  void count_bytes(const Phase& phase, bool as_flow, Row& row);
  // Moves the bytes; returns the time at which the first of them moved.
  double move(const Phase& phase, bool as_flow, Barrier* barrier);
  // Adds the row of a phase that ends now, after a row of waiting if there was any.
  void add_rows(Row row, double posted_s, double moving_s);
  // Ends the phase for all members when the last one ends it.
  void end_together(Barrier& barrier, const Phase& phase, double began_s,
                    const std::function<void()>& done);
  void as_flows(const Phase& phase);
  // Sends all steps of a ring. Each step is sent when this rank has received the step before and
  // injected its own, whether the next rank is ready for it or not.
  void as_ring_steps(const Phase& phase);
  // Sends all steps of a ring as one flow, and notes that flow in `barrier`.
  void as_ring_flow(const Phase& phase, Barrier& barrier);
  // Returns the time at which the first byte of the step moved.
  double as_step(const Phase& phase, int step);
  // Sends and receives share `i` of `count` of every transfer; returns the time at which the first
  // began to move.
  double transfer(const Phase& phase, int count, int i);
  // Where SharedFlows moves messages: puts one to a peer; asks for the next one from a peer, and
  // takes it when wait_for_flows() has returned.
  std::shared_ptr<CollectiveMessage> put(int peer, std::uint64_t bytes, bool eager);
  void ask_for(int peer, bool eager);
  void begin(const std::shared_ptr<CollectiveMessage>& message);
  void wait_for_flows();
  std::shared_ptr<CollectiveMessage> take(int peer, bool eager);
  void arrived(std::int64_t message, double at_s);  // notes a message that this stream has received
  struct Arrivals {
    double posted_s;
    double last_s;
    double moving_s = std::numeric_limits<double>::infinity();
    std::vector<std::pair<double, double>> moved = {};  // of each message: from and until
    void moves(double from_s, double until_s) {
      moving_s = std::min(moving_s, from_s);
      moved.emplace_back(from_s, until_s);
    }
  };
  // Records the pauses after `from_s`, in which none of these messages moved.
  void add_pauses(std::vector<std::pair<double, double>> moved, double from_s);
  CollectiveMessage message_to(int peer, std::uint64_t bytes);  // that sets out now
  void put_local(int to);  // a message to a rank on the same host
  sg::CommPtr put_comm(int peer, std::uint64_t bytes, bool eager);
  void take_shares(const Phase& phase, bool eager, Arrivals& arrivals);
  // In an eager mailbox, messages set out whether or not the receiver has asked for them; in other
  // mailboxes, when both sides are ready.
  sg::Mailbox* mailbox_to(int peer, bool eager);
  sg::Mailbox* mailbox_from(int peer, bool eager);
};

// Makes the members of a phase wait for each other: before the phase and, where it is simulated as
// flows, after it.
struct Barrier {
  // The flow to a member of a ring from the previous member.
  struct RingFlow {
    int to = 0;
    double latency_s = 0;
    double seconds = 0;             // without the latency
    std::optional<double> alone_s;  // the same if no other channel sent; none: there is one channel
  };
  int arrived = 0;
  int finished = 0;
  std::unordered_map<int, RingFlow> ring;  // by sender
  std::vector<StreamState*> sleeping;
  std::vector<std::function<void()>> callbacks;  // of members that do not sleep until the end

  void release();  // wakes all sleeping members
};

}  // namespace syncline

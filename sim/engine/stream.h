// A communication stream: it executes phases on SimGrid, one after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/engine/actors.h"
#include "sim/plan.h"
#include "sim/trace.h"

namespace syncline {

struct Barrier;

// A communication stream of a worker, or of a server that takes part in collectives.
struct StreamState {
  Run& run;
  int rank;
  int stage = 0;  // whose phases it executes (sim/engine/stages.h)
  JobQueue jobs{run};
  Wakeup wakeup;            // wakes the current job
  Wakeup upstream;          // the stage before has ended a piece, or a bucket has passed all stages
  Wakeup released;          // all members of a phase have arrived, or all have finished
  bool ends_later = false;  // the phase before goes on, for others too
  Wakeup ended;             // it has ended
  sg::ActorPtr actor;       // that runs the jobs
  std::unordered_map<int, sg::Mailbox*> to, from;              // by the other rank
  std::unordered_map<int, sg::Mailbox*> eager_to, eager_from;  // the same
  std::optional<std::size_t> last_row;                         // of this stream in the trace
  struct Local {
    double at_s;
    std::int64_t message;
  };
  std::deque<Local> local_arrivals;  // what ranks on the same host sent to this one
  Wakeup local_arrival;
  std::vector<std::int64_t> sent, received;  // messages of the phase
  const Phase* current = nullptr;            // that it executes
  int current_bucket = 0;                    // whose

  // Executes the plan except its first and last work. `done` runs when it has ended, perhaps after
  // this has returned and in another actor, so that no actor is woken only to be informed.
  void average(const Plan& plan, const Bucket& bucket, int iteration,
               const std::function<void()>& done);
  // Executes one phase; `done` is empty except for the last one of a plan.
  void phase(const Phase& phase, const Bucket& bucket, int iteration,
             const std::function<void()>& done);

  // A row of this stream.
  Row row(Verb verb, int bucket, int iteration) const;

 private:
  // Waits until all members of the phase have arrived.
  void meet(Barrier& barrier, int group_size);
  // Adds the bytes that the phase moves over the network to the row.
  void count_bytes(const Phase& phase, bool as_flow, Row& row);
  // Moves the bytes; returns when the first of them moved.
  double move(const Phase& phase, bool as_flow, Barrier* barrier);
  // Adds the row of a phase that ends now, and before it one of waiting.
  void add_rows(Row row, double posted_s, double moving_s);
  // The phase ends for all members when it ends for the last.
  void end_together(Barrier& barrier, const Phase& phase, double began_s,
                    const std::function<void()>& done);
  void as_flows(const Phase& phase);
  // All steps of a ring, each sent when this rank has received the step before and injected its
  // own, whether the next rank is ready for it or not.
  void as_ring_steps(const Phase& phase);
  // All steps of a ring as one flow, which `barrier` gets to know.
  void as_ring_flow(const Phase& phase, Barrier& barrier);
  // Returns when the first byte of the step moved.
  double as_step(const Phase& phase, int step);
  // Sends and receives share `i` of `count` of every transfer; returns when the first began to
  // move.
  double transfer(const Phase& phase, int count, int i);
  struct Arrivals {
    double posted_s;
    double last_s;
    double moving_s = std::numeric_limits<double>::infinity();
    std::vector<std::pair<double, double>> moved = {};  // of each message, from and until
    void moves(double from_s, double until_s) {
      moving_s = std::min(moving_s, from_s);
      moved.emplace_back(from_s, until_s);
    }
  };
  // Notes when none of these moved, from then on.
  void add_pauses(std::vector<std::pair<double, double>> moved, double from_s);
  std::vector<sg::CommPtr> put_shares(const Phase& phase, int count, int i, bool eager);
  void take_shares(const Phase& phase, bool eager, Arrivals& arrivals);
  // Messages in an eager mailbox set out whether the receiver has asked or not; in others when both
  // sides have come to them.
  sg::Mailbox* mailbox_to(int peer, bool eager);
  sg::Mailbox* mailbox_from(int peer, bool eager);
};

// Makes the members of a phase wait for each other: before it and, as flows, after it.
struct Barrier {
  // To a member of a ring from the one before.
  struct RingFlow {
    int to = 0;
    double latency_s = 0;
    double seconds = 0;             // without the latency
    std::optional<double> alone_s;  // the same if no other channel sent, where there are several
  };
  int arrived = 0;
  int finished = 0;
  std::unordered_map<int, RingFlow> ring;  // by sender
  std::vector<StreamState*> sleeping;
  std::vector<std::function<void()>> callbacks;  // of members that do not sleep until the end

  void release();  // wakes who sleeps
};

}  // namespace syncline

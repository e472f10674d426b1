// Communication streams: they carry plans out on SimGrid, one after the other.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "sim/engine/actors.h"
#include "sim/plan.h"

namespace syncline {

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
  // `done` is empty but for the last phase of a plan.
  void phase(const Phase& phase, const Bucket& bucket, int iteration,
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

}  // namespace syncline

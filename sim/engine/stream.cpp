// Communication streams: they execute plans on SimGrid.
//
// A phase with several steps starts when all its members have arrived. A ring cannot finish
// earlier, because every part of the buffer passes through every rank; so this costs nothing, and
// it separates waiting for a slow worker from transferring. In `fidelity = flow` the phase also
// ends for all members together: a ring's when the closed form of its steps says so
// (sim/setup/ring.h), if each step's injection takes its share of the rank's flow.
#include "sim/engine/stream.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/engine/run.h"
#include "sim/setup/network.h"
#include "sim/setup/ring.h"

namespace syncline {
namespace {

sg::Mailbox* mailbox(std::unordered_map<int, sg::Mailbox*>& known, int peer, int from, int to,
                     int stage, bool eager) {
  sg::Mailbox*& box = known[peer];
  if (box == nullptr)
    box = sg::Mailbox::by_name(std::to_string(from) + (eager ? ">>" : ">") + std::to_string(to) +
                               " " + std::to_string(stage));
  return box;
}

// A message of a collective that is no step of a ring.
struct Sent {
  double at_s = 0;
  double latency_s = 0;  // from the end of its flow to its arrival
  std::int64_t message = 0;
};

// A step of a ring under way. Both ends hold it, because either may be done with it first.
struct Part {
  double latency_s = 0;  // from injected to arrived
  std::int64_t message = 0;
  std::optional<double> injected_s = {};
};

// In the ring's order, from any of its members.
std::vector<RingHop> hops_of(const std::unordered_map<int, Barrier::RingFlow>& ring, int steps) {
  std::vector<RingHop> hops;
  int rank = ring.begin()->first;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Barrier::RingFlow& flow = ring.at(rank);
    hops.push_back({.latency_s = flow.latency_s, .part_s = flow.seconds / steps});
    rank = flow.to;
  }
  return hops;
}

}  // namespace

void JobQueue::add(std::function<void()> job) {
  pending.push_back(std::move(job));
  wakeup.wake();
}

void JobQueue::run_until_over() {
  for (;;) {
    if (!pending.empty()) {
      const std::function<void()> job = std::move(pending.front());
      pending.pop_front();
      job();
    } else if (run.over()) {
      return;
    } else {
      wakeup.wait();
    }
  }
}

sg::Mailbox* StreamState::mailbox_to(int peer, bool eager) {
  const bool is_new = eager && !eager_to.contains(peer);
  sg::Mailbox* box = mailbox(eager ? eager_to : to, peer, rank, peer, stage, eager);
  if (is_new)
    box->set_receiver(run.stages_of(peer).stream(stage).actor);
  return box;
}

sg::Mailbox* StreamState::mailbox_from(int peer, bool eager) {
  return mailbox(eager ? eager_from : from, peer, peer, rank, stage, eager);
}

void StreamState::average(const Plan& plan, const Bucket& bucket, int iteration,
                          const std::function<void()>& done) {
  const std::size_t begin = first_work(plan) != nullptr ? 1 : 0;
  const std::size_t end = plan.size() - (last_work(plan) != nullptr ? 1 : 0);
  if (begin == end)
    done();
  for (std::size_t i = begin; i < end; ++i) {
    const bool last = i + 1 == end;
    if (const Phase* moves = std::get_if<Phase>(&plan[i])) {
      phase(*moves, bucket, iteration, last ? done : nullptr);
      continue;
    }
    run.work(std::get<Work>(plan[i]), {.stream = Stream::communication,
                                       .rank = rank,
                                       .bucket = bucket.index,
                                       .iteration = iteration});
    last_row = run.trace.rows.size() - 1;
    if (last)
      done();
  }
}

void StreamState::phase(const Phase& phase, const Bucket& bucket, int iteration,
                        const std::function<void()>& done) {
  const double posted_s = sg::Engine::get_clock();
  const bool together = phase.group_size > 1 && phase.steps > 1;
  const bool as_flow = is_fused(phase, run.setup.traffic.every_step, run.trace.workers);
  Barrier* barrier = together ? &run.barriers[{stage, phase.group}] : nullptr;
  while (ends_later && !together)  // others meet at their barrier after it
    ended.wait();
  if (together) {
    if (++barrier->arrived < phase.group_size) {
      barrier->sleeping.push_back(this);
      released.wait();
    } else {
      barrier->arrived = 0;
      for (StreamState* member : std::exchange(barrier->sleeping, {}))
        member->released.wake();
    }
  }

  Row row{.verb = phase.name,
          .stream = Stream::communication,
          .stage = static_cast<std::uint8_t>(stage),
          .rank = rank,
          .bucket = bucket.index,
          .iteration = iteration};
  for (const Transfer& transfer : phase.sends) {
    row.bytes_sent += run.on_the_wire(rank, transfer.peer, transfer.bytes);
    if (!as_flow && run.on_different_hosts(rank, transfer.peer))
      run.trace.flows += phase.steps - 1;
  }
  for (const Transfer& transfer : phase.receives)
    row.bytes_received += run.on_different_hosts(transfer.peer, rank) ? transfer.bytes : 0;

  double moving_s = sg::Engine::get_clock();
  const double began_s = moving_s;
  if (as_flow && is_ring(phase))
    as_ring_flow(phase, *barrier);
  else if (is_ring(phase))
    as_ring_steps(phase);
  else if (as_flow)
    as_flows(phase);
  else
    for (int s = 0; s < phase.steps; ++s) {
      const double began_s = as_step(phase, s);
      if (s == 0)
        moving_s = std::max(moving_s, began_s);
    }

  // The previous phase may have been extended to the end of its slowest member; this row cannot
  // start before that.
  const double free_s = last_row ? std::max(posted_s, run.trace.rows[*last_row].end_s) : posted_s;
  if (moving_s > free_s)
    run.trace.rows.push_back({.start_s = free_s,
                              .end_s = moving_s,
                              .verb = "wait",
                              .stream = Stream::communication,
                              .stage = row.stage,
                              .rank = rank,
                              .bucket = bucket.index,
                              .iteration = iteration});
  row.start_s = std::max(moving_s, free_s);
  row.end_s = sg::Engine::get_clock();
  const std::size_t index = run.trace.rows.size();
  run.trace.rows.push_back(row);
  run.sends(std::exchange(sent, {}));
  run.receives(std::exchange(received, {}));
  last_row = index;
  if (!as_flow || !together) {
    if (done)
      done();
    return;
  }
  // The phase ends for all when it ends for the last.
  if (++barrier->finished < phase.group_size) {
    if (done) {
      ends_later = true;
      barrier->callbacks.emplace_back([this, index, done] {
        run.end_row(index);
        ends_later = false;
        ended.wake();
        done();
      });
    } else {
      barrier->sleeping.push_back(this);
      released.wait();
      run.end_row(index);
    }
    return;
  }
  barrier->finished = 0;
  if (!barrier->ring.empty()) {
    const double seconds = ring_seconds(hops_of(std::exchange(barrier->ring, {}), phase.steps),
                                        phase.steps, run.setup.scenario.step_overhead_s);
    sg::this_actor::sleep_until(began_s + seconds);
  }
  run.end_row(index);
  if (!done)  // otherwise the members that sleep here wait for the next phase
    for (StreamState* member : std::exchange(barrier->sleeping, {}))
      member->released.wake();
  for (const std::function<void()>& callback : std::exchange(barrier->callbacks, {}))
    callback();
  if (done)
    done();
}

void StreamState::as_ring_flow(const Phase& phase, Barrier& barrier) {
  const double began_s = sg::Engine::get_clock();
  const int previous = phase.receives[0].peer;
  const double latency_s = run.routes.latency_s(previous, rank);
  const double carried_s = run.setup.scenario.network->latency_after_flow ? 0 : latency_s;
  // All begin at once, so that no message has to wait to be asked for.
  sg::Mailbox* next = mailbox_to(phase.sends[0].peer, false);
  sent.push_back(run.message_sent(rank, phase.sends[0].peer, phase.sends[0].bytes));
  const sg::CommPtr sending = next->put_async(new std::int64_t(sent.back()), phase.sends[0].bytes);
  const std::unique_ptr<std::int64_t> message(mailbox_from(previous, false)->get<std::int64_t>());
  run.message_arrived(*message, sg::Engine::get_clock() + run.latency_after_flow_s(previous, rank));
  received.push_back(*message);
  barrier.ring[previous] = {
      .to = rank,
      .latency_s = latency_s,
      .seconds = std::max(0.0, sg::Engine::get_clock() - began_s - carried_s)};
  sending->wait();
}

void StreamState::as_ring_steps(const Phase& phase) {
  const Transfer& send = phase.sends[0];
  sg::Mailbox* next = mailbox_to(send.peer, true);
  sg::Mailbox* previous = mailbox_from(phase.receives[0].peer, true);
  for (int s = 0; s < phase.steps; ++s) {
    if (run.setup.scenario.step_overhead_s > 0)
      sg::this_actor::sleep_for(run.setup.scenario.step_overhead_s);
    const auto part = std::make_shared<Part>();
    part->latency_s = run.latency_after_flow_s(rank, send.peer);
    part->message = run.message_sent(rank, send.peer, share(send.bytes, phase.steps, s));
    sent.push_back(part->message);
    next->put(new std::shared_ptr<Part>(part), share(send.bytes, phase.steps, s));
    part->injected_s = sg::Engine::get_clock();
    const std::unique_ptr<std::shared_ptr<Part>> part_before(
        previous->get<std::shared_ptr<Part>>());
    // Where the sender does not know yet, this moment is the end of its injection.
    const double injected_s = (*part_before)->injected_s.value_or(sg::Engine::get_clock());
    run.message_arrived((*part_before)->message, injected_s + (*part_before)->latency_s);
    received.push_back((*part_before)->message);
    sg::this_actor::sleep_until(injected_s + (*part_before)->latency_s);
  }
}

void StreamState::as_flows(const Phase& phase) {
  // The latency of one step comes with the flows; those of the others and all overheads before.
  double latency_s = 0;
  for (const Transfer& transfer : phase.receives)
    latency_s = std::max(latency_s, run.routes.latency_s(transfer.peer, rank));
  const double before_s =
      (phase.steps - 1) * latency_s + phase.steps * run.setup.scenario.step_overhead_s;
  if (before_s > 0)
    sg::this_actor::sleep_for(before_s);
  transfer(phase, 1, 0);
}

double StreamState::as_step(const Phase& phase, int step) {
  const double overhead_s = run.setup.scenario.step_overhead_s;
  const double began_s = sg::Engine::get_clock();
  if (overhead_s > 0 && !phase.sends.empty())
    sg::this_actor::sleep_for(overhead_s);
  return std::max(began_s, transfer(phase, phase.steps, step) - overhead_s);
}

double StreamState::transfer(const Phase& phase, int parts, int part) {
  const bool eager = phase.stage.stages > 1;  // in a pipeline who sends does not wait for others
  std::vector<sg::CommPtr> sending;
  for (const Transfer& send : phase.sends) {
    const bool local = !run.on_different_hosts(rank, send.peer);
    const std::uint64_t bytes = local ? 0 : share(send.bytes, parts, part);
    sent.push_back(run.message_sent(rank, send.peer, bytes));
    if (local) {
      StreamState& peer = run.stages_of(send.peer).stream(stage);
      peer.local_arrivals.push_back({sg::Engine::get_clock(), sent.back()});
      peer.local_arrival.wake();
      continue;
    }
    auto* message = new Sent{.at_s = sg::Engine::get_clock(),
                             .latency_s = run.latency_after_flow_s(rank, send.peer),
                             .message = sent.back()};
    sending.push_back(mailbox_to(send.peer, eager)->put_async(message, bytes));
  }
  const double posted_s = sg::Engine::get_clock();
  double moving_s = std::numeric_limits<double>::infinity();
  double arrived_s = posted_s;
  const auto arrives = [&](std::int64_t message, double sent_s, double at_s) {
    moving_s = std::min(moving_s, std::max(posted_s, sent_s));
    arrived_s = std::max(arrived_s, at_s);
    run.message_arrived(message, at_s);
    received.push_back(message);
  };
  std::vector<std::pair<sg::CommPtr, Sent*>> receiving;
  receiving.reserve(phase.receives.size());  // SimGrid keeps pointers into it
  for (const Transfer& receive : phase.receives) {
    if (!run.on_different_hosts(receive.peer, rank)) {
      while (local_arrivals.empty())
        local_arrival.wait();
      const Local& local = local_arrivals.front();
      arrives(local.message, local.at_s, local.at_s);
      local_arrivals.pop_front();
      continue;
    }
    sg::Mailbox* box = mailbox_from(receive.peer, eager);
    if (phase.receives.size() == 1 && !eager) {  // saves one context switch
      const std::unique_ptr<Sent> message(box->get<Sent>());
      arrives(message->message, message->at_s, sg::Engine::get_clock() + message->latency_s);
      continue;
    }
    receiving.emplace_back(nullptr, nullptr);
    receiving.back().first = box->get_async<Sent>(&receiving.back().second);
  }
  // A message arrives at the end of its flow + latency, whenever it is looked for.
  for (const auto& [comm, taken] : receiving) {
    comm->wait();
    const std::unique_ptr<Sent> message(taken);
    arrives(message->message, message->at_s, comm->get_finish_time() + message->latency_s);
  }
  for (const sg::CommPtr& comm : sending) {
    comm->wait();
    moving_s = std::min(moving_s, comm->get_start_time());  // when the receiver had posted too
  }
  if (arrived_s > sg::Engine::get_clock())
    sg::this_actor::sleep_until(arrived_s);
  return moving_s;
}

}  // namespace syncline

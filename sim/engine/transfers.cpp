// Communication streams: how they move the bytes of a phase on SimGrid.
#include <algorithm>
#include <utility>

#include "sim/catalogue/network.h"
#include "sim/collectives.h"
#include "sim/engine/run.h"
#include "sim/engine/stream.h"

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

// A message of a collective, other than a step of a ring.
struct CollectiveMessage {
  double at_s = 0;
  double latency_s = 0;     // from the end of its flow to its arrival
  std::int64_t number = 0;  // in the trace
};

// A step of a ring under way. Both ends hold it, because either may be done with it first.
struct RingStep {
  double latency_s = 0;  // from injection to arrival
  std::int64_t message = 0;
  std::optional<double> injected_s = {};
};

}  // namespace

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

void StreamState::as_ring_flow(const Phase& phase, Barrier& barrier) {
  const double began_s = sg::Engine::get_clock();
  const int previous = phase.receives[0].peer;
  const double latency_s = run.wire.routes.latency_s(previous, rank);
  const double carried_s = run.setup.scenario.network->latency_after_flow ? 0 : latency_s;
  // All members begin at once, so no message waits for its receiver.
  sg::Mailbox* next = mailbox_to(phase.sends[0].peer, false);
  sent.push_back(run.wire.message_sent(rank, phase.sends[0].peer, phase.sends[0].bytes));
  const sg::CommPtr sending = run.wire.flow(*next, new std::int64_t(sent.back()),
                                            phase.sends[0].bytes, rank, phase.sends[0].peer);
  sending->start();
  const std::unique_ptr<std::int64_t> message(mailbox_from(previous, false)->get<std::int64_t>());
  run.wire.message_arrived(*message,
                           sg::Engine::get_clock() + run.wire.latency_after_flow_s(previous, rank));
  received.push_back(*message);
  Barrier::RingFlow& flow = barrier.ring[previous] = {
      .to = rank,
      .latency_s = latency_s,
      .seconds = std::max(0.0, sg::Engine::get_clock() - began_s - carried_s)};
  if (run.setup.traffic.has_channels())
    flow.alone_s =
        static_cast<double>(phase.receives[0].bytes) / run.wire.routes.width_Bps(previous, rank);
  sending->wait();
}

void StreamState::as_ring_steps(const Phase& phase) {
  const Transfer& send = phase.sends[0];
  sg::Mailbox* next = mailbox_to(send.peer, true);
  sg::Mailbox* previous = mailbox_from(phase.receives[0].peer, true);
  for (int s = 0; s < phase.steps; ++s) {
    if (run.setup.scenario.step_overhead_s > 0)
      sg::this_actor::sleep_for(run.setup.scenario.step_overhead_s);
    const std::uint64_t bytes = share(send.bytes, phase.steps, s);
    const auto step = std::make_shared<RingStep>();
    step->latency_s = run.wire.latency_after_flow_s(rank, send.peer);
    step->message = run.wire.message_sent(rank, send.peer, bytes);
    sent.push_back(step->message);
    run.wire.flow(*next, new std::shared_ptr<RingStep>(step), bytes, rank, send.peer)->wait();
    step->injected_s = sg::Engine::get_clock();
    const std::unique_ptr<std::shared_ptr<RingStep>> taken(
        previous->get<std::shared_ptr<RingStep>>());
    const RingStep& before = **taken;
    // If the sender has not noted the end of its injection yet, that end is now.
    const double arrives_s = before.injected_s.value_or(sg::Engine::get_clock()) + before.latency_s;
    run.wire.message_arrived(before.message, arrives_s);
    received.push_back(before.message);
    sg::this_actor::sleep_until(arrives_s);
  }
}

void StreamState::as_flows(const Phase& phase) {
  // The flows include the latency of one step. The latencies of the other steps, and all overheads,
  // come before.
  double latency_s = 0;
  for (const Transfer& transfer : phase.receives)
    latency_s = std::max(latency_s, run.wire.routes.latency_s(transfer.peer, rank));
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

double StreamState::transfer(const Phase& phase, int count, int i) {
  const bool eager = phase.stage.stages > 1;  // in a pipeline a sender does not wait for others
  const std::vector<sg::CommPtr> sending = put_shares(phase, count, i, eager);
  const double posted_s = sg::Engine::get_clock();
  Arrivals arrivals{.posted_s = posted_s, .last_s = posted_s};
  take_shares(phase, eager, arrivals);
  for (const sg::CommPtr& comm : sending) {
    comm->wait();
    // A flow starts when both sides are ready, in an eager mailbox at once: the bytes moved from
    // then on.
    arrivals.moves(comm->get_start_time(), comm->get_finish_time());
  }
  if (arrivals.last_s > sg::Engine::get_clock())
    sg::this_actor::sleep_until(arrivals.last_s);
  // A row of waiting covers the time before the first message of the first step.
  if (!arrivals.moved.empty())
    add_pauses(std::move(arrivals.moved), i == 0 ? arrivals.moving_s : posted_s);
  return arrivals.moving_s;
}

void StreamState::add_pauses(std::vector<std::pair<double, double>> moved, double from_s) {
  constexpr double nothing_s = 1e-9;  // SimGrid ends an activity up to this much too early
  std::ranges::sort(moved);
  for (const auto& [start_s, end_s] : moved) {
    if (start_s > from_s + nothing_s)
      run.trace.pauses.push_back({.start_s = from_s,
                                  .end_s = start_s,
                                  .rank = rank,
                                  .stage = static_cast<std::uint8_t>(stage)});
    from_s = std::max(from_s, end_s);
  }
}

std::vector<sg::CommPtr> StreamState::put_shares(const Phase& phase, int count, int i, bool eager) {
  std::vector<sg::CommPtr> sending;
  for (const Transfer& send : phase.sends) {
    const bool local = !run.wire.joins(rank, send.peer);
    const std::uint64_t bytes = local ? 0 : share(send.bytes, count, i);
    sent.push_back(run.wire.message_sent(rank, send.peer, bytes));
    if (local) {
      StreamState& peer = run.stages_of(send.peer).stream(stage);
      peer.local_arrivals.push_back({sg::Engine::get_clock(), sent.back()});
      peer.local_arrival.wake();
      continue;
    }
    auto* message =
        new CollectiveMessage{.at_s = sg::Engine::get_clock(),
                              .latency_s = run.wire.latency_after_flow_s(rank, send.peer),
                              .number = sent.back()};
    sending.push_back(
        run.wire.flow(*mailbox_to(send.peer, eager), message, bytes, rank, send.peer));
    sending.back()->start();
  }
  return sending;
}

void StreamState::take_shares(const Phase& phase, bool eager, Arrivals& arrivals) {
  const auto arrives = [&](std::int64_t message, double sent_s, double at_s) {
    arrivals.moves(std::max(arrivals.posted_s, sent_s), at_s);
    arrivals.last_s = std::max(arrivals.last_s, at_s);
    run.wire.message_arrived(message, at_s);
    received.push_back(message);
  };
  // A message arrives at the end of its flow + latency, whenever the receiver looks for it.
  const auto take = [&](CollectiveMessage* taken, double flow_ended_s) {
    const std::unique_ptr<CollectiveMessage> message(taken);
    arrives(message->number, message->at_s, flow_ended_s + message->latency_s);
  };
  std::vector<std::pair<sg::CommPtr, CollectiveMessage*>> receiving;
  receiving.reserve(phase.receives.size());  // SimGrid keeps pointers into it
  for (const Transfer& receive : phase.receives) {
    if (!run.wire.joins(receive.peer, rank)) {
      while (local_arrivals.empty())
        local_arrival.wait();
      const Local& local = local_arrivals.front();
      arrives(local.message, local.at_s, local.at_s);
      local_arrivals.pop_front();
      continue;
    }
    sg::Mailbox* box = mailbox_from(receive.peer, eager);
    if (phase.receives.size() == 1 && !eager) {  // saves one context switch
      CollectiveMessage* message = box->get<CollectiveMessage>();
      take(message, sg::Engine::get_clock());
      continue;
    }
    receiving.emplace_back(nullptr, nullptr);
    receiving.back().first = box->get_async<CollectiveMessage>(&receiving.back().second);
  }
  for (const auto& [comm, taken] : receiving) {
    comm->wait();
    take(taken, comm->get_finish_time());
  }
}

}  // namespace syncline

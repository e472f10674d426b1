// Communication streams: how they move the bytes of a phase, by SimGrid's network or by
// SharedFlows.
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

}  // namespace

// A message of a collective. Both ends may hold it, because either may be done with it first.
struct CollectiveMessage {
  double at_s = 0;
  double latency_s = 0;                              // from the end of its flow to its arrival
  std::int64_t number = 0;                           // in the trace
  std::optional<double> began_s = {}, ended_s = {};  // of its flow, as far as they are noted
  // Where SharedFlows moves it:
  StreamState* from = nullptr;
  StreamState* to = nullptr;
  std::uint64_t bytes = 0;
  bool is_asked_for = false;
};

CollectiveMessage StreamState::message_to(int peer, std::uint64_t bytes) {
  sent.push_back(run.wire.message_sent(rank, peer, bytes));
  return {.at_s = sg::Engine::get_clock(),
          .latency_s = current->latency_part * run.wire.latency_after_flow_s(rank, peer),
          .number = sent.back()};
}

std::shared_ptr<CollectiveMessage> StreamState::put(int peer, std::uint64_t bytes, bool eager) {
  const auto message = std::make_shared<CollectiveMessage>(message_to(peer, bytes));
  message->from = this;
  message->to = &run.stages_of(peer).stream(stage);
  message->bytes = bytes;
  ++moving;
  Box& box = message->to->boxes[{rank, eager}];
  box.messages.push_back(message);
  message->is_asked_for = box.messages.size() <= box.asked;
  if (eager || message->is_asked_for)
    begin(message);
  return message;
}

void StreamState::ask_for(int peer, bool eager) {
  Box& box = boxes[{peer, eager}];
  const std::size_t place = box.asked++;
  if (place < box.messages.size()) {
    const std::shared_ptr<CollectiveMessage>& message = box.messages[place];
    message->is_asked_for = true;
    if (message->ended_s)
      return;
    if (!message->began_s)
      begin(message);
  }
  ++moving;
}

void StreamState::begin(const std::shared_ptr<CollectiveMessage>& message) {
  message->began_s = sg::Engine::get_clock();
  run.wire.flows->begin(
      message->from->rank, message->to->rank, static_cast<double>(message->bytes), [message] {
        message->ended_s = sg::Engine::get_clock();
        for (StreamState* end : {message->from, message->to})
          if ((end == message->from || message->is_asked_for) && --end->moving == 0)
            end->moved.wake();
      });
}

void StreamState::wait_for_flows() {
  while (moving > 0)
    moved.wait();
}

std::shared_ptr<CollectiveMessage> StreamState::take(int peer, bool eager) {
  Box& box = boxes[{peer, eager}];
  std::shared_ptr<CollectiveMessage> message = std::move(box.messages.front());
  box.messages.pop_front();
  --box.asked;
  return message;
}

void StreamState::arrived(std::int64_t message, double at_s) {
  run.wire.message_arrived(message, at_s);
  received.push_back(message);
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

void StreamState::as_ring_flow(const Phase& phase, Barrier& barrier) {
  const double began_s = sg::Engine::get_clock();
  const int next = phase.sends[0].peer;
  const int previous = phase.receives[0].peer;
  const double latency_s = phase.latency_part * run.wire.routes.latency_s(previous, rank);
  CollectiveMessage message;
  // All members begin at once, so no message waits for its receiver.
  if (run.wire.flows != nullptr) {
    put(next, phase.sends[0].bytes, false);
    ask_for(previous, false);
    wait_for_flows();
    message = *take(previous, false);
  } else {
    const sg::CommPtr sending = put_comm(next, phase.sends[0].bytes, false);
    const std::unique_ptr<CollectiveMessage> taken(
        mailbox_from(previous, false)->get<CollectiveMessage>());
    message = *taken;
    message.ended_s = sg::Engine::get_clock();
    sending->wait();
  }
  arrived(message.number, *message.ended_s + message.latency_s);
  const double carried_s = run.setup.scenario.network->latency_after_flow ? 0 : latency_s;
  Barrier::RingFlow& flow =
      barrier.ring[previous] = {.to = rank,
                                .latency_s = latency_s,
                                .seconds = std::max(0.0, *message.ended_s - began_s - carried_s)};
  if (phase.stage.channels > 1)
    flow.alone_s =
        static_cast<double>(phase.receives[0].bytes) / run.wire.routes.width_Bps(previous, rank);
}

void StreamState::as_ring_steps(const Phase& phase) {
  const Transfer& send = phase.sends[0];
  const int previous_rank = phase.receives[0].peer;
  const bool by_flows = run.wire.flows != nullptr;
  sg::Mailbox* next = by_flows ? nullptr : mailbox_to(send.peer, true);
  sg::Mailbox* previous = by_flows ? nullptr : mailbox_from(previous_rank, true);
  for (int s = 0; s < phase.steps; ++s) {
    if (run.setup.scenario.step_overhead_s > 0)
      sg::this_actor::sleep_for(run.setup.scenario.step_overhead_s);
    const std::uint64_t bytes = share(send.bytes, phase.steps, s);
    std::shared_ptr<CollectiveMessage> before;
    if (by_flows) {
      put(send.peer, bytes, true);
      ask_for(previous_rank, true);
      wait_for_flows();
      before = take(previous_rank, true);
    } else {
      const auto step = std::make_shared<CollectiveMessage>(message_to(send.peer, bytes));
      auto* carried = new std::shared_ptr<CollectiveMessage>(step);
      run.wire.flow(*next, carried, bytes, rank, send.peer)->wait();
      step->ended_s = sg::Engine::get_clock();
      const std::unique_ptr<std::shared_ptr<CollectiveMessage>> taken(
          previous->get<std::shared_ptr<CollectiveMessage>>());
      before = *taken;
    }
    // If the sender has not noted the end of its flow yet, that end is now.
    const double arrives_s = before->ended_s.value_or(sg::Engine::get_clock()) + before->latency_s;
    arrived(before->number, arrives_s);
    sg::this_actor::sleep_until(arrives_s);
  }
}

void StreamState::as_flows(const Phase& phase) {
  // The flows include the latency of one step. The latencies of the other steps, and all overheads,
  // come before.
  double latency_s = 0;
  for (const Transfer& transfer : phase.receives)
    latency_s =
        std::max(latency_s, phase.latency_part * run.wire.routes.latency_s(transfer.peer, rank));
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
  const bool by_flows = run.wire.flows != nullptr;
  std::vector<sg::CommPtr> comms;
  std::vector<std::shared_ptr<CollectiveMessage>> messages;
  for (const Transfer& send : phase.sends)
    if (!run.wire.joins(rank, send.peer))
      put_local(send.peer);
    else if (by_flows)
      messages.push_back(put(send.peer, share(send.bytes, count, i), eager));
    else
      comms.push_back(put_comm(send.peer, share(send.bytes, count, i), eager));
  const double posted_s = sg::Engine::get_clock();
  Arrivals arrivals{.posted_s = posted_s, .last_s = posted_s};
  if (by_flows) {
    for (const Transfer& receive : phase.receives)
      if (run.wire.joins(receive.peer, rank))
        ask_for(receive.peer, eager);
    wait_for_flows();
  }
  take_shares(phase, eager, arrivals);
  // A flow starts when both sides are ready, in an eager mailbox at once: the bytes moved from then
  // on.
  for (const sg::CommPtr& comm : comms) {
    comm->wait();
    arrivals.moves(comm->get_start_time(), comm->get_finish_time());
  }
  for (const std::shared_ptr<CollectiveMessage>& message : messages)
    arrivals.moves(*message->began_s, *message->ended_s);
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

void StreamState::put_local(int to) {
  sent.push_back(run.wire.message_sent(rank, to, 0));
  StreamState& peer = run.stages_of(to).stream(stage);
  peer.local_arrivals.push_back({sg::Engine::get_clock(), sent.back()});
  peer.local_arrival.wake();
}

sg::CommPtr StreamState::put_comm(int peer, std::uint64_t bytes, bool eager) {
  auto* message = new CollectiveMessage(message_to(peer, bytes));
  const sg::CommPtr comm = run.wire.flow(*mailbox_to(peer, eager), message, bytes, rank, peer);
  comm->start();
  return comm;
}

void StreamState::take_shares(const Phase& phase, bool eager, Arrivals& arrivals) {
  const auto arrives = [&](std::int64_t message, double sent_s, double at_s) {
    arrivals.moves(std::max(arrivals.posted_s, sent_s), at_s);
    arrivals.last_s = std::max(arrivals.last_s, at_s);
    arrived(message, at_s);
  };
  // A message arrives at the end of its flow + latency, whenever the receiver looks for it.
  const auto take_comm = [&](CollectiveMessage* taken, double flow_ended_s) {
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
    if (run.wire.flows != nullptr) {
      const std::shared_ptr<CollectiveMessage> message = take(receive.peer, eager);
      arrives(message->number, message->at_s, *message->ended_s + message->latency_s);
      continue;
    }
    sg::Mailbox* box = mailbox_from(receive.peer, eager);
    if (phase.receives.size() == 1 && !eager) {  // saves one context switch
      CollectiveMessage* message = box->get<CollectiveMessage>();
      take_comm(message, sg::Engine::get_clock());
      continue;
    }
    receiving.emplace_back(nullptr, nullptr);
    receiving.back().first = box->get_async<CollectiveMessage>(&receiving.back().second);
  }
  for (const auto& [comm, taken] : receiving) {
    comm->wait();
    take_comm(taken, comm->get_finish_time());
  }
}

}  // namespace syncline

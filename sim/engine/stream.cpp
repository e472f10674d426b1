// Communication streams: they execute plans on SimGrid.
//
// A phase with several steps starts when all its members have arrived. A ring cannot finish
// earlier, because every part of the buffer passes through every rank; so this costs nothing, and
// it separates waiting for a slow worker from transferring. In `fidelity = flow` the phase also
// ends for all members together, with the slowest flow: the slowest link limits the whole ring.
#include "sim/engine/stream.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/engine/run.h"

namespace syncline {
namespace {

sg::Mailbox* mailbox(std::unordered_map<int, sg::Mailbox*>& known, int from, int to, int peer) {
  sg::Mailbox*& box = known[peer];
  if (box == nullptr)
    box = sg::Mailbox::by_name(std::to_string(from) + ">" + std::to_string(to));
  return box;
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

std::shared_ptr<const Plan> StreamState::plan(const Bucket& bucket, int iteration) {
  const std::shared_ptr<const Payload> payload = run.payload(bucket, iteration);
  const auto make = [&] {
    return std::make_shared<const Plan>(run.setup.traffic.plan_of(*payload, rank));
  };
  if (!payload->messages.empty())
    return make();
  const std::tuple key(payload->bytes, payload->dense_bytes, payload->small_bytes);
  auto known = plans.find(key);
  if (known == plans.end())
    known = plans.emplace(key, make()).first;
  return known->second;
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
  Barrier* barrier = together ? &run.barriers[phase.group] : nullptr;
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
          .rank = rank,
          .bucket = bucket.index,
          .iteration = iteration};
  for (const Transfer& transfer : phase.sends)
    row.bytes_sent += run.on_the_wire(rank, transfer.peer, transfer.bytes);
  for (const Transfer& transfer : phase.receives)
    row.bytes_received += run.on_different_hosts(transfer.peer, rank) ? transfer.bytes : 0;

  double moving_s = sg::Engine::get_clock();
  const bool as_flow = together && !run.setup.scenario.every_step;
  if (as_flow)
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
                              .rank = rank,
                              .bucket = bucket.index,
                              .iteration = iteration});
  row.start_s = std::max(moving_s, free_s);
  row.end_s = sg::Engine::get_clock();
  const std::size_t index = run.trace.rows.size();
  run.trace.rows.push_back(row);
  last_row = index;
  if (!as_flow) {
    if (done)
      done();
    return;
  }
  // The phase ends for all when it ends for the last.
  if (++barrier->finished < phase.group_size) {
    if (done) {
      barrier->callbacks.emplace_back([&run = run, index, done] {
        run.end_row(index);
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
  run.end_row(index);
  if (!done)  // otherwise the members that sleep here wait for the next phase
    for (StreamState* member : std::exchange(barrier->sleeping, {}))
      member->released.wake();
  for (const std::function<void()>& callback : std::exchange(barrier->callbacks, {}))
    callback();
  if (done)
    done();
}

void StreamState::as_flows(const Phase& phase) {
  // SimGrid adds one latency to a flow; the latencies and overheads of the other steps come first.
  double latency_s = 0;
  for (const Transfer& transfer : phase.sends)
    latency_s = std::max(latency_s, latency_to(transfer.peer));
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
  std::vector<sg::CommPtr> sending;
  for (const Transfer& send : phase.sends) {
    if (!run.on_different_hosts(rank, send.peer)) {
      StreamState& peer = run.stream_of(send.peer);
      peer.local_arrivals.push_back(sg::Engine::get_clock());
      peer.local_arrival.wake();
      continue;
    }
    sg::Mailbox* box = mailbox(to, rank, send.peer, send.peer);
    sending.push_back(
        box->put_async(new double(sg::Engine::get_clock()), share(send.bytes, parts, part)));
  }
  const double posted_s = sg::Engine::get_clock();
  double moving_s = std::numeric_limits<double>::infinity();
  std::vector<std::pair<sg::CommPtr, double*>> receiving;
  receiving.reserve(phase.receives.size());  // SimGrid keeps pointers into it
  for (const Transfer& receive : phase.receives) {
    if (!run.on_different_hosts(receive.peer, rank)) {
      while (local_arrivals.empty())
        local_arrival.wait();
      moving_s = std::min(moving_s, std::max(posted_s, local_arrivals.front()));
      local_arrivals.pop_front();
      continue;
    }
    sg::Mailbox* box = mailbox(from, receive.peer, rank, receive.peer);
    if (phase.receives.size() == 1) {  // saves one context switch
      const std::unique_ptr<double> sent_s(box->get<double>());
      moving_s = std::min(moving_s, std::max(posted_s, *sent_s));
    } else {
      receiving.emplace_back(nullptr, nullptr);
      receiving.back().first = box->get_async<double>(&receiving.back().second);
    }
  }
  for (const auto& [comm, message] : receiving) {
    comm->wait();
    const std::unique_ptr<double> sent_s(message);
    moving_s = std::min(moving_s, std::max(posted_s, *sent_s));
  }
  for (const sg::CommPtr& comm : sending) {
    comm->wait();
    moving_s = std::min(moving_s, comm->get_start_time());  // when the receiver had posted too
  }
  return moving_s;
}

double StreamState::latency_to(int peer) {
  const auto [entry, added] = latencies.emplace(peer, 0.0);
  if (added)
    entry->second = run.routes.between(rank, peer).latency_s;
  return entry->second;
}

}  // namespace syncline

// Communication streams: how they execute plans on SimGrid.
//
// A phase with several steps starts when all its members have arrived. A ring cannot finish
// earlier, because every share of the buffer passes through every rank. So the wait costs no time,
// and it separates waiting for a slow worker from transferring. In `fidelity = flow` the phase also
// ends for all members together. A ring ends when the closed form of its steps says
// (sim/traffic/ring_time.h), where the injection of each step takes its share of the rank's flow.
#include "sim/engine/stream.h"

#include <algorithm>
#include <utility>

#include "sim/collectives.h"
#include "sim/engine/fidelity.h"
#include "sim/engine/run.h"
#include "sim/traffic/ring_time.h"

namespace syncline {
namespace {

// The hops in the ring's order, from any of its members on.
std::vector<RingHop> hops_of(const std::unordered_map<int, Barrier::RingFlow>& ring, int steps) {
  std::vector<RingHop> hops;
  int rank = ring.begin()->first;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Barrier::RingFlow& flow = ring.at(rank);
    hops.push_back({.latency_s = flow.latency_s, .part_s = flow.seconds / steps});
    if (flow.alone_s)
      hops.back().alone_s = std::min(*flow.alone_s, flow.seconds) / steps;
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
    run.collective_ends(rank);  // while this rank computes instead
    run.work(std::get<Work>(plan[i]), row(Verb::compress, bucket.index, iteration));
    run.collective_begins(rank);
    last_row = run.trace.rows.size() - 1;
    if (last)
      done();
  }
}

Row StreamState::row(Verb verb, int bucket, int iteration) const {
  return {.verb = verb,
          .stream = Stream::communication,
          .stage = static_cast<std::uint8_t>(stage),
          .rank = rank,
          .bucket = bucket,
          .iteration = iteration};
}

void StreamState::phase(const Phase& phase, const Bucket& bucket, int iteration,
                        const std::function<void()>& done) {
  const double posted_s = sg::Engine::get_clock();
  current = &phase;
  current_bucket = bucket.index;
  const bool as_flow = is_one_flow(run.setup, phase);
  const bool together = phase.group_size > 1 && phase.steps > 1;
  Barrier* barrier = together ? &run.barriers[{stage, phase.group}] : nullptr;
  if (together)
    meet(*barrier, phase.group_size);
  else
    while (ends_later)  // the other phases wait at their barrier
      ended.wait();

  Row row = this->row(phase.verb, bucket.index, iteration);
  count_bytes(phase, as_flow, row);
  const double began_s = sg::Engine::get_clock() + phase.before_s;
  const double moving_s = move(phase, as_flow, barrier);
  add_rows(row, posted_s, moving_s);
  current = nullptr;
  if (as_flow && together)
    end_together(*barrier, phase, began_s, done);
  else if (done)
    done();
}

void StreamState::meet(Barrier& barrier, int group_size) {
  if (++barrier.arrived < group_size) {
    barrier.sleeping.push_back(this);
    released.wait();
    return;
  }
  barrier.arrived = 0;
  barrier.release();
}

void StreamState::count_bytes(const Phase& phase, bool as_flow, Row& row) {
  for (const Transfer& transfer : phase.sends) {
    row.bytes_sent += run.wire.count(rank, transfer.peer, transfer.bytes);
    if (!as_flow && run.wire.joins(rank, transfer.peer))
      run.trace.flows += static_cast<std::uint64_t>(phase.steps) - 1;
  }
  for (const Transfer& transfer : phase.receives)
    row.bytes_received += run.wire.joins(transfer.peer, rank) ? transfer.bytes : 0;
}

double StreamState::move(const Phase& phase, bool as_flow, Barrier* barrier) {
  double moving_s = sg::Engine::get_clock();
  if (phase.before_s > 0)
    sg::this_actor::sleep_for(phase.before_s);
  if (is_ring(phase)) {
    if (as_flow)
      as_ring_flow(phase, *barrier);
    else
      as_ring_steps(phase);
  } else if (as_flow) {
    as_flows(phase);
  } else {
    for (int s = 0; s < phase.steps; ++s) {
      const double step_moving_s = as_step(phase, s);
      if (s == 0)
        moving_s = std::max(moving_s, step_moving_s - phase.before_s);
    }
  }
  return moving_s;
}

void StreamState::add_rows(Row row, double posted_s, double moving_s) {
  // The previous phase may have been extended to the end of its slowest member. This row cannot
  // start before that.
  const double free_s = last_row ? std::max(posted_s, run.trace.rows[*last_row].end_s) : posted_s;
  if (moving_s > free_s) {
    Row wait = this->row(Verb::wait, row.bucket, row.iteration);
    wait.start_s = free_s;
    wait.end_s = moving_s;
    run.trace.rows.push_back(wait);
  }
  last_row = run.trace.rows.size();
  run.add_row(std::max(moving_s, free_s), row);
  run.wire.sends(std::exchange(sent, {}));
  run.wire.receives(std::exchange(received, {}));
}

void StreamState::end_together(Barrier& barrier, const Phase& phase, double began_s,
                               const std::function<void()>& done) {
  const std::size_t row = *last_row;
  if (++barrier.finished < phase.group_size) {
    if (done) {
      ends_later = true;
      barrier.callbacks.emplace_back([this, row, done] {
        run.end_row(row);
        ends_later = false;
        ended.wake();
        done();
      });
    } else {
      barrier.sleeping.push_back(this);
      released.wait();
      run.end_row(row);
    }
    return;
  }
  barrier.finished = 0;
  if (!barrier.ring.empty()) {
    const double seconds = channel_seconds(hops_of(std::exchange(barrier.ring, {}), phase.steps),
                                           phase.steps, run.setup.scenario.step_overhead_s);
    sg::this_actor::sleep_until(began_s + seconds);
  }
  run.end_row(row);
  if (!done)  // otherwise the members that sleep here wait for the next phase
    barrier.release();
  for (const std::function<void()>& callback : std::exchange(barrier.callbacks, {}))
    callback();
  if (done)
    done();
}

void Barrier::release() {
  for (StreamState* member : std::exchange(sleeping, {}))
    member->released.wake();
}

}  // namespace syncline

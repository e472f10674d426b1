#include <stdexcept>
#include <utility>

#include "sim/engine/engine_worker.h"
#include "sim/engine/run.h"
#include "sim/server.h"

namespace syncline {
namespace {

// Does work that takes `solo_s` alone on the worker's host. Sharing the host, a speed profile, or
// collectives at the same time can make it longer.
void compute(WorkerState& state, double solo_s, const Row& row) {
  const double start_s = sg::Engine::get_clock();
  const double seconds = solo_s * state.slowdown;
  if (seconds > 0)
    state.processor.compute(seconds * state.cluster().workers[index(state.rank)].speed_flops);
  state.run.add_row(start_s, row);
}

// Starts a bucket's transfer: now or, with `overlap = off`, when backward has ended.
void start_or_defer(WorkerState& state, const Bucket& bucket, std::function<void()> start) {
  state.deferred.push_back(std::move(start));
  const bool is_last = bucket.index + 1 == static_cast<int>(state.setup().made().size());
  if (is_last || state.setup().scenario.overlap)
    start_deferred(state);
}

// Does `work` (null: none) on the compute stream, or on the second core if there is one; then calls
// `then`.
void work_then(WorkerState& state, const Work* work, const Bucket& bucket, int iteration,
               std::function<void()> then) {
  if (work == nullptr) {
    then();
    return;
  }
  const bool second_core = state.compresses_on_second_core();
  const Row row{.stream = second_core ? Stream::compression : Stream::compute,
                .rank = state.rank,
                .bucket = bucket.index,
                .iteration = iteration};
  auto job = [&state, work = *work, row, then = std::move(then)] {
    state.run.work(work, row);
    then();
  };
  if (second_core)
    state.compressing.add(std::move(job));
  else
    job();
}

// Number of averages, started by the schedule, that arrive with this bucket: a group has one for
// each tensor.
int averages_of(const WorkerState& state, const Bucket& bucket) {
  return state.run.cycles == nullptr ? 1 : bucket.tensors;
}

// Handles the arrival of a bucket's average. Decompression waits until the compute stream is free,
// unless there is a second core or nothing to decompress.
void decompress_arrived(WorkerState& state, const std::shared_ptr<const Plan>& plan,
                        const Bucket& bucket, int iteration, int& outstanding) {
  auto job = [&state, plan, &bucket, iteration, &outstanding] {
    work_then(state, last_work(*plan), bucket, iteration,
              [&state, &outstanding, averages = averages_of(state, bucket)] {
                outstanding -= averages;
                if (outstanding == 0)
                  state.wakeup.wake();
              });
  };
  if (last_work(*plan) == nullptr || state.compresses_on_second_core()) {
    job();
    return;
  }
  state.arrived.push_back(std::move(job));
  state.wakeup.wake();
}

// Makes the next iteration use the parameters that answers have brought.
void take_answers(WorkerState& state) {
  end_answers(state);
  while (!state.to_decompress.empty()) {
    const auto [bucket, iteration] = state.to_decompress.front();
    state.to_decompress.pop_front();
    const auto payload = state.run.payload(state.setup().buckets[index(bucket)], iteration);
    if (payload->elements > 0)
      state.run.work(decode(payload->elements), state.row(Verb::decompress, bucket));
  }
  read_cache(state);
}

// Takes a step of these seconds and writes this version into its row; -1 for a step alone, after
// which workers differ.
void take_step(WorkerState& state, std::int64_t version, double seconds) {
  if (state.setup().compute.launch_s > 0)
    compute(state, state.setup().compute.launch_s, state.row(Verb::launch));
  Row row = state.row(Verb::step);
  row.version = version;
  compute(state, seconds, row);
  state.stepped_s = sg::Engine::get_clock();
}

// The number of outstanding averages in this group.
int& outstanding_in(WorkerState& state, Among group) {
  if (group == Among::all)
    return state.outstanding;
  if (!state.setup().within || state.setup().within->over != group)
    throw std::logic_error("schedule " + state.setup().scenario.schedule->name +
                           " averages in groups that it does not declare as its replicas");
  return state.outstanding_within;
}

const Shards& shards_of(const WorkerState& state) {
  if (!state.setup().shards)
    throw std::logic_error("schedule " + state.setup().scenario.schedule->name +
                           " moves shards that it does not declare");
  return *state.setup().shards;
}

}  // namespace

void start_deferred(WorkerState& state) {
  for (const std::function<void()>& deferred : std::exchange(state.deferred, {}))
    deferred();
}

const Setup& WorkerState::setup() const {
  return run.setup;
}

const Cluster& WorkerState::cluster() const {
  return run.setup.traffic.cluster;
}

Row WorkerState::row(Verb verb, int bucket) const {
  return {.verb = verb,
          .stream = Stream::compute,
          .rank = rank,
          .bucket = bucket,
          .iteration = over ? -1 : iteration};
}

void WorkerState::wait_until(std::string_view call, const std::function<bool()>& ready) {
  const double start_s = sg::Engine::get_clock();
  waits_in = call;
  while (!ready())
    wakeup.wait();
  waits_in = {};
  if (sg::Engine::get_clock() > start_s)
    run.add_row(start_s, row(Verb::wait));
}

bool WorkerState::compresses_on_second_core() const {
  return setup().traffic.compression.on() && cluster().workers[index(rank)].cores > 1;
}

const Settings& EngineWorker::settings() const {
  return state_.setup().scenario.schedule_settings;
}

int EngineWorker::workers() const {
  return state_.cluster().topology.workers();
}

std::span<const Bucket> EngineWorker::buckets() const {
  return state_.setup().made();
}

bool EngineWorker::next_iteration() {
  const Scenario& scenario = state_.setup().scenario;
  if (const auto stepped_s = std::exchange(state_.stepped_s, std::nullopt))
    state_.run.length.stepped(state_.rank, state_.iteration, *stepped_s);
  if (!state_.run.length.has(state_.iteration + 1)) {
    state_.over = true;
    return false;
  }
  if (++state_.iteration == 0) {
    const double start_s = state_.run.length.start_s(state_.rank);
    if (start_s > 0)
      sg::this_actor::sleep_for(start_s);
    state_.run.length.starts(state_.rank, sg::Engine::get_clock());
  }
  state_.slowdown = jitter_factor(scenario.jitter, scenario.seed, state_.rank, state_.iteration);
  return true;
}

void EngineWorker::forward() {
  if (state_.run.learner != nullptr)
    state_.run.learner->forward(state_.rank, state_.iteration);
  const ComputeTimes& times = state_.setup().compute;
  compute(state_, times.forward_s(state_.rank), state_.row(Verb::forward));
  if (times.micro_steps > 1)
    compute(state_, times.accumulate_s(state_.rank), state_.row(Verb::accumulate));
}

int EngineWorker::micro_steps() const {
  return state_.setup().compute.micro_steps;
}

void EngineWorker::forward(const Bucket& bucket) {
  if (state_.run.learner != nullptr)
    state_.run.learner->forward(state_.rank, state_.iteration);
  compute(state_, state_.setup().compute.forward_s(state_.rank, bucket.forward_flop),
          state_.row(Verb::forward, bucket.index));
}

void EngineWorker::backward(const Bucket& bucket) {
  if (state_.run.cycles != nullptr && bucket.index == 0)
    state_.run.cycles->backward_begins();
  compute(state_, state_.setup().compute.backward_s(state_.rank, bucket),
          state_.row(Verb::backward, bucket.index));
}

void EngineWorker::step() {
  take_step(state_, state_.iteration + 1, state_.setup().compute.step_s(state_.rank));
  const bool averages = state_.setup().traffic.partners == Schedule::Partners::each_other;
  if (!averages || state_.run.learner == nullptr)
    return;
  const int gradients = state_.run.learner->step(state_.rank);
  if (state_.rank == 0 && gradients > 0)
    state_.run.learned(gradients);
}

void EngineWorker::step_alone() {
  const bool to_neighbours = state_.setup().traffic.partners == Schedule::Partners::neighbours;
  start_deferred(state_);
  take_step(state_, to_neighbours ? state_.iteration + 1 : -1,
            state_.setup().compute.step_s(state_.rank));
  if (state_.run.learner != nullptr)
    state_.run.learner->step_alone(state_.rank, state_.iteration);
  if (state_.setup().scenario.schedule->has_own_parameters())
    state_.run.learned(1);
}

void EngineWorker::step_together(double rate, double momentum, std::optional<double> own) {
  take_step(state_, state_.iteration + 1, state_.setup().compute.together_s(state_.rank));
  if (state_.run.learner == nullptr)
    return;
  const int gradients =
      state_.run.learner->step_together(state_.rank, state_.iteration, rate, momentum, own);
  if (state_.rank == 0)
    state_.run.learned(gradients);
}

void EngineWorker::start_average(const Bucket& bucket, Among group) {
  int& outstanding = outstanding_in(state_, group);
  ++outstanding;
  if (group == Among::all && state_.run.learner != nullptr)
    state_.run.learner->start_average(state_.rank, state_.iteration);
  start_or_defer(
      state_, bucket, [=, &outstanding, &state = state_, &bucket, iteration = state_.iteration] {
        const bool over_all = group == Among::all;
        const std::shared_ptr<const Plan> plan =
            over_all ? state.stages.plan(bucket, iteration)
                     : state.stages.plan(*state.setup().within, bucket);
        work_then(state, first_work(*plan), bucket, iteration, [=, &outstanding, &state, &bucket] {
          const auto done = [=, &outstanding, &state, &bucket] {
            decompress_arrived(state, plan, bucket, iteration, outstanding);
          };
          if (state.run.cycles != nullptr)
            state.run.cycles->made(state.rank, bucket, iteration);
          else if (over_all)
            state.stages.average(plan, bucket, iteration, done);
          else
            state.stages.average_within(plan, bucket, iteration, done);
        });
      });
}

void start_group(WorkerState& worker, const Bucket& group, int iteration) {
  const std::shared_ptr<const Plan> plan = worker.stages.plan(group, iteration);
  worker.stages.average(plan, group, iteration, [&worker, plan, &group, iteration] {
    decompress_arrived(worker, plan, group, iteration, worker.outstanding);
  });
}

void EngineWorker::finish_averages(Among group) {
  start_deferred(state_);
  const int& outstanding = outstanding_in(state_, group);
  for (;;) {
    state_.wait_until("finish_averages()",
                      [&] { return outstanding == 0 || !state_.arrived.empty(); });
    if (state_.arrived.empty())
      break;
    const std::function<void()> decompress = std::move(state_.arrived.front());
    state_.arrived.pop_front();
    decompress();
  }
  if (group == Among::all && state_.run.learner != nullptr)
    state_.run.learner->finish_averages(state_.rank);
}

void EngineWorker::start_gather(const Bucket& unit) {
  ++state_.gathering[index(unit.index)];
  const Traffic& gather = shards_of(state_).gather;
  state_.stages.execute(state_.stages.plan(gather, unit), 0, unit, state_.iteration,
                        [&state = state_, &unit] {
                          --state.gathering[index(unit.index)];
                          state.wakeup.wake();
                        });
  if (!state_.setup().scenario.overlap)
    finish_gather(unit);
}

void EngineWorker::finish_gather(const Bucket& unit) {
  state_.wait_until("finish_gather()", [&] { return state_.gathering[index(unit.index)] == 0; });
}

void EngineWorker::start_reduce_scatter(const Bucket& unit) {
  ++state_.outstanding;
  if (state_.run.learner != nullptr)
    state_.run.learner->start_average(state_.rank, state_.iteration);
  const Shards& shards = shards_of(state_);
  const auto done = [&state = state_] {
    --state.outstanding;
    state.wakeup.wake();
  };
  const auto scattered = [&state = state_, &shards, &unit, done, iteration = state_.iteration] {
    if (shards.across)
      state.stages.execute(state.stages.plan(*shards.across, unit), state.stages.of_all, unit,
                           iteration, done);
    else
      done();
  };
  state_.stages.execute(state_.stages.plan(shards.reduce_scatter, unit), 0, unit, state_.iteration,
                        scattered);
  if (!state_.setup().scenario.overlap)
    state_.wait_until("start_reduce_scatter()", [&] { return state_.outstanding == 0; });
}

void EngineWorker::push(const Bucket& bucket) {
  state_.outstanding += answers_to_a_push(state_, bucket.index);
  state_.run.length.sends(state_.rank, state_.iteration, state_.cluster().topology.servers,
                          bucket.index + 1 == static_cast<int>(buckets().size()));
  const double scale = state_.run.learner == nullptr
                           ? 1
                           : state_.run.learner->push(state_.rank, bucket.index, state_.iteration);
  start_or_defer(state_, bucket, [&state = state_, &bucket, iteration = state_.iteration, scale] {
    const std::shared_ptr<const Payload> payload = state.run.payload(bucket, iteration);
    const Work made = encode(payload->elements);
    work_then(state, payload->elements > 0 ? &made : nullptr, bucket, iteration,
              [&state, &bucket, iteration,
               bytes = scaled(payload->message_of(state.rank), scale) + payload->small_bytes] {
                push_to_servers(state, bucket, iteration, bytes, Push::What::gradient);
              });
  });
}

void EngineWorker::pull() {
  state_.wait_until("pull()", [&] { return state_.outstanding == 0; });
  take_answers(state_);
}

void EngineWorker::ask(const Bucket& bucket) {
  state_.outstanding += answers_to_a_push(state_, bucket.index);
  push_to_servers(state_, bucket, state_.iteration, 0, Push::What::question);
}

void EngineWorker::push_difference(const Bucket& bucket, double rate) {
  state_.outstanding += answers_to_a_push(state_, bucket.index);
  if (state_.run.learner != nullptr)
    state_.run.learner->push_difference(state_.rank, bucket.index, state_.iteration, rate);
  push_to_servers(state_, bucket, state_.iteration, state_.setup().traffic.bytes_of(bucket),
                  Push::What::difference);
  if (!state_.setup().scenario.overlap && bucket.index + 1 == static_cast<int>(buckets().size()))
    state_.wait_until("push_difference()", [&] { return state_.outstanding == 0; });
}

void EngineWorker::refresh_cache(double staleness) {
  const double needed = state_.iteration + 1 - staleness;
  state_.waits_for_fresh = true;
  state_.fresh = 0;
  state_.wait_until("refresh_cache()", [&] { return is_fresh(state_, needed); });
  state_.waits_for_fresh = false;
  take_answers(state_);
  Row row = state_.row(Verb::read);
  row.version = oldest_clock(state_);
  state_.run.add_row(sg::Engine::get_clock(), row);
}

}  // namespace syncline

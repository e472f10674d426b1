#include "sim/worker.h"

#include <algorithm>
#include <utility>

#include "sim/engine/run.h"

namespace syncline {
namespace {

const Setup& setup_of(const WorkerState& state) {
  return state.run.setup;
}

const Cluster& cluster_of(const WorkerState& state) {
  return setup_of(state).traffic.cluster;
}

Row compute_row(const WorkerState& state, std::string_view verb, int bucket = -1) {
  return {.verb = verb,
          .stream = Stream::compute,
          .rank = state.rank,
          .bucket = bucket,
          .iteration = state.iteration};
}

// Computes what takes `solo_s` alone on the worker's host; sharing it, or a speed profile, can make
// it longer.
void compute(WorkerState& state, double solo_s, const Row& row) {
  const double start_s = sg::Engine::get_clock();
  const double seconds = solo_s * state.slowdown;
  if (seconds > 0)
    sg::this_actor::execute(seconds * cluster_of(state).workers[index(state.rank)].speed_flops);
  state.run.add_row(start_s, row);
}

// Blocks the compute stream until `ready`, and records that in the trace.
template <class Ready>
void wait_until(WorkerState& state, Ready ready) {
  const double start_s = sg::Engine::get_clock();
  while (!ready())
    state.wakeup.wait();
  if (sg::Engine::get_clock() > start_s)
    state.run.add_row(start_s, compute_row(state, "wait"));
}

// Starts a bucket's transfer: now, or with `overlap = off` when backward has ended.
void start_or_defer(WorkerState& state, const Bucket& bucket, std::function<void()> start) {
  state.deferred.push_back(std::move(start));
  const bool is_last = bucket.index + 1 == static_cast<int>(setup_of(state).buckets.size());
  if (!is_last && !setup_of(state).scenario.overlap)
    return;
  for (const std::function<void()>& deferred : std::exchange(state.deferred, {}))
    deferred();
}

// Does this work (null: none) on the compute stream, or on the second core if there is one; then
// calls `then`.
void work_then(WorkerState& state, const Work* work, const Bucket& bucket, int iteration,
               std::function<void()> then) {
  if (work == nullptr) {
    then();
    return;
  }
  const bool second_core = compresses_on_second_core(state);
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

// An average or an answer has arrived.
void one_arrived(WorkerState& state) {
  if (--state.outstanding == 0)
    state.wakeup.wake();
}

// The average of this bucket has arrived. Decompressing it waits until the compute stream is free,
// unless there is a second core or nothing to decompress.
void decompress_arrived(WorkerState& state, const std::shared_ptr<const Plan>& plan,
                        const Bucket& bucket, int iteration) {
  auto job = [&state, plan, &bucket, iteration] {
    work_then(state, last_work(*plan), bucket, iteration, [&state] { one_arrived(state); });
  };
  if (last_work(*plan) == nullptr || compresses_on_second_core(state)) {
    job();
    return;
  }
  state.arrived.push_back(std::move(job));
  state.wakeup.wake();
}

AggregatorState& node_of(const WorkerState& state) {
  const int node = cluster_of(state).topology.node_of[static_cast<std::size_t>(state.rank)];
  return *state.run.aggregators[static_cast<std::size_t>(node)];
}

// How many of this worker's gradients are in the parameters at its node: in all servers' parts.
int own_gradients_at(const AggregatorState& node, const WorkerState& state) {
  const std::size_t contained = *std::ranges::min_element(node.contained);
  return static_cast<int>(std::ranges::upper_bound(state.own_gradients, contained) -
                          state.own_gradients.begin());
}

// Copies the whole model inside the node.
void copy(WorkerState& state, int from, int to, std::string_view verb, std::int64_t version = -1) {
  const double start_s = sg::Engine::get_clock();
  const std::uint64_t bytes =
      state.run.on_different_hosts(from, to) ? setup_of(state).model_bytes() : std::uint64_t{0};
  bool arrived = false;
  const std::int64_t message = state.run.message_sent(from, to, bytes);
  state.run.deliver(from, to, bytes, [&](double) {
    state.run.message_arrived(message, sg::Engine::get_clock());
    arrived = true;
    state.wakeup.wake();
  });
  wait_until(state, [&] { return arrived; });
  const bool out = from == state.rank;
  state.run.add_row(start_s, {.verb = verb,
                              .stream = Stream::communication,
                              .rank = state.rank,
                              .iteration = state.iteration,
                              .bytes_sent = out ? bytes : 0,
                              .bytes_received = out ? 0 : bytes,
                              .version = version});
  const int other = out ? to : from;
  state.run.add_row(start_s, {.verb = verb,
                              .stream = Stream::messages,
                              .rank = other,
                              .iteration = state.iteration,
                              .bytes_sent = out ? 0 : bytes,
                              .bytes_received = out ? bytes : 0});
  state.run.sends({message}, out ? 1 : 0);
  state.run.receives({message}, out ? 0 : 1);
}

// The next iteration uses what the answers have brought.
void take_answers(WorkerState& state) {
  end_answers(state);
  while (!state.to_decompress.empty()) {
    const auto [bucket, iteration] = state.to_decompress.front();
    state.to_decompress.pop_front();
    const auto payload = state.run.payload(setup_of(state).buckets[index(bucket)], iteration);
    if (payload->elements > 0)
      state.run.work(decode(payload->elements), compute_row(state, "decompress", bucket));
  }
  read_cache(state);
}

// With other workers, and not on servers.
bool averages(const WorkerState& state) {
  return setup_of(state).traffic.partners == Schedule::Partners::each_other;
}

// The optimiser's step; `version`: of the parameters that all then have.
void take_step(WorkerState& state, std::int64_t version) {
  if (setup_of(state).compute.launch_s > 0)
    compute(state, setup_of(state).compute.launch_s, compute_row(state, "launch"));
  Row row = compute_row(state, "step");
  row.version = version;
  compute(state, setup_of(state).compute.step_s[index(state.rank)], row);
  // The last iteration of a round ends with the step that all take together.
  const bool ends_round = (state.iteration + 1) % setup_of(state).traffic.round == 0;
  if (!ends_round || version >= 0)
    state.run.length.stepped(state.rank, state.iteration, sg::Engine::get_clock());
}

}  // namespace

bool compresses_on_second_core(const WorkerState& worker) {
  return setup_of(worker).traffic.compression.on() &&
         cluster_of(worker).workers[index(worker.rank)].cores > 1;
}

const Settings& Worker::settings() const {
  return setup_of(state_).scenario.schedule_settings;
}

std::span<const Bucket> Worker::buckets() const {
  return setup_of(state_).buckets;
}

bool Worker::next_iteration() {
  const Scenario& scenario = setup_of(state_).scenario;
  if (!state_.run.length.has(state_.iteration + 1))
    return false;
  if (++state_.iteration == 0) {
    const double start_s = state_.run.length.start_s(state_.rank);
    if (start_s > 0)
      sg::this_actor::sleep_for(start_s);
    state_.run.length.starts(state_.rank, sg::Engine::get_clock());
  }
  state_.slowdown = jitter_factor(scenario.jitter, scenario.seed, state_.rank, state_.iteration);
  return true;
}

void Worker::forward() {
  if (state_.run.learner != nullptr)
    state_.run.learner->forward(state_.rank, state_.iteration);
  compute(state_, setup_of(state_).compute.forward_s(state_.rank), compute_row(state_, "forward"));
}

void Worker::backward(const Bucket& bucket) {
  compute(state_, setup_of(state_).compute.backward_s(state_.rank, bucket.forward_flop),
          compute_row(state_, "backward", bucket.index));
}

void Worker::step() {
  take_step(state_, state_.iteration + 1);
  if (!averages(state_) || state_.run.learner == nullptr)
    return;
  state_.run.learner->step(state_.iteration);
  if (state_.rank == 0)
    state_.run.learned(cluster_of(state_).topology.workers());
}

void Worker::step_alone() {
  take_step(state_, -1);
  if (state_.run.learner != nullptr)
    state_.run.learner->step_alone(state_.rank, state_.iteration);
}

void Worker::step_together(double rate, double momentum) {
  take_step(state_, state_.iteration + 1);
  if (state_.run.learner == nullptr)
    return;
  const int gradients = state_.run.learner->step_together(state_.iteration, rate, momentum);
  if (state_.rank == 0)
    state_.run.learned(gradients);
}

void Worker::start_average(const Bucket& bucket) {
  ++state_.outstanding;
  start_or_defer(state_, bucket, [&state = state_, &bucket, iteration = state_.iteration] {
    const std::shared_ptr<const Plan> plan = state.stages.plan(bucket, iteration);
    work_then(state, first_work(*plan), bucket, iteration, [&state, plan, &bucket, iteration] {
      state.stages.average(plan, bucket, iteration, [&state, plan, &bucket, iteration] {
        decompress_arrived(state, plan, bucket, iteration);
      });
    });
  });
}

void Worker::finish_averages() {
  for (;;) {
    wait_until(state_, [&] { return state_.outstanding == 0 || !state_.arrived.empty(); });
    if (state_.arrived.empty())
      return;
    const std::function<void()> decompress = std::move(state_.arrived.front());
    state_.arrived.pop_front();
    decompress();
  }
}

void Worker::push(const Bucket& bucket) {
  state_.outstanding += answers_to_a_push(state_, bucket.index);
  state_.run.length.sends(state_.rank, state_.iteration, cluster_of(state_).topology.servers,
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
                push_to_servers(state, bucket, iteration, bytes);
              });
  });
}

void Worker::pull() {
  wait_until(state_, [&] { return state_.outstanding == 0; });
  take_answers(state_);
}

void Worker::refresh_cache(double staleness) {
  const double needed = state_.iteration + 1 - staleness;
  state_.waits_for_fresh = true;
  wait_until(state_, [&] { return oldest_clock(state_) >= needed; });
  state_.waits_for_fresh = false;
  take_answers(state_);
  Row row = compute_row(state_, "read");
  row.version = oldest_clock(state_);
  state_.run.add_row(sg::Engine::get_clock(), row);
}

void Worker::hand_over() {
  AggregatorState& node = node_of(state_);
  state_.run.length.sends(state_.rank, state_.iteration, cluster_of(state_).topology.servers, true);
  NodeGradient gradient{.worker = state_.rank, .iteration = state_.iteration, .read_versions = {}};
  if (state_.run.learner != nullptr)
    gradient.values = state_.run.learner->gradient(state_.rank);
  for (const std::vector<std::int64_t>& of_server : state_.read_version)
    gradient.read_versions.push_back(of_server[0]);
  copy(state_, state_.rank, node.rank(), "hand-over");
  node.handed_over.push_back(std::move(gradient));
  node.events.add({.kind = Aggregator::Event::Kind::gradient});
}

void Worker::wait_until_applied(double newest) {
  AggregatorState& node = node_of(state_);
  const double needed = state_.iteration + 1 - newest;
  const auto applied = [&] { return own_gradients_at(node, state_) >= needed; };
  if (applied())
    return;
  ++node.waiting_workers;
  node.events.add({.kind = Aggregator::Event::Kind::worker_stops});
  wait_until(state_, applied);
  --node.waiting_workers;
}

void Worker::take_parameters() {
  const AggregatorState& node = node_of(state_);
  for (std::size_t s = 0; s < node.versions.size(); ++s)
    state_.read_version[s][0] = node.versions[s];
  if (state_.run.learner != nullptr)
    state_.run.learner->take(state_.rank, node.node);
  const int own = own_gradients_at(node, state_);
  copy(state_, node.rank(), state_.rank, "take", own);
}

}  // namespace syncline

#include "sim/worker.h"

#include <algorithm>

#include "sim/engine.h"

namespace syncline {
namespace {

const Setup& setup_of(const WorkerState& state) {
  return state.run.setup;
}

Row compute_row(const WorkerState& state, std::string_view verb, int bucket = -1) {
  return {.verb = verb,
          .stream = Stream::compute,
          .rank = state.rank,
          .bucket = bucket,
          .iteration = state.iteration};
}

// Runs `share` of an iteration's computation on the worker's host, whose speed may change
// meanwhile.
void compute(WorkerState& state, double share, const Row& row) {
  const double start_s = sg::Engine::get_clock();
  const auto i = static_cast<std::size_t>(state.rank);
  const double seconds = setup_of(state).times.solo_s[i] * share * state.slowdown;
  if (seconds > 0)
    sg::this_actor::execute(seconds * setup_of(state).cluster.workers[i].speed_flops);
  state.run.add_row(start_s, row);
}

// Blocks the compute stream until `ready`, and says so in the trace.
template <class Ready>
void wait_until(WorkerState& state, Ready ready) {
  const double start_s = sg::Engine::get_clock();
  while (!ready())
    state.wakeup.wait();
  if (sg::Engine::get_clock() > start_s)
    state.run.add_row(start_s, compute_row(state, "wait"));
}

// Gives a job to the communication stream: now, or when backward has ended.
void communicate(WorkerState& state, const Bucket& bucket, std::function<void()> job) {
  state.deferred.push_back(std::move(job));
  const bool ended = bucket.index + 1 == static_cast<int>(setup_of(state).buckets.size());
  if (!ended && !setup_of(state).scenario.overlap)
    return;
  for (std::function<void()>& waiting : state.deferred)
    state.stream.add(std::move(waiting));
  state.deferred.clear();
}

AggregatorState& node_of(const WorkerState& state) {
  const int node = setup_of(state).cluster.topology.node_of[static_cast<std::size_t>(state.rank)];
  return *state.run.aggregators[static_cast<std::size_t>(node)];
}

// A copy inside the node, of the whole model.
void copy(WorkerState& state, int from, int to, std::string_view verb) {
  const double start_s = sg::Engine::get_clock();
  const std::uint64_t bytes =
      state.run.apart(from, to) ? setup_of(state).model_bytes() : std::uint64_t{0};
  bool here = false;
  state.run.deliver(from, to, bytes, [&](double) {
    here = true;
    state.wakeup.wake();
  });
  wait_until(state, [&] { return here; });
  const bool out = from == state.rank;
  state.run.add_row(start_s, {.verb = verb,
                              .stream = Stream::communication,
                              .rank = state.rank,
                              .iteration = state.iteration,
                              .bytes_sent = out ? bytes : 0,
                              .bytes_received = out ? 0 : bytes});
  const int other = out ? to : from;
  state.run.add_row(start_s, {.verb = verb,
                              .stream = Stream::messages,
                              .rank = other,
                              .iteration = state.iteration,
                              .bytes_sent = out ? 0 : bytes,
                              .bytes_received = out ? bytes : 0});
}

}  // namespace

void add_answer(WorkerState& worker, double set_out_s, std::uint64_t bytes) {
  const double now_s = sg::Engine::get_clock();
  if (worker.answers && set_out_s > worker.answers->end_s) {
    worker.run.trace.rows.push_back(*worker.answers);
    worker.answers.reset();
  }
  if (!worker.answers)
    worker.answers = {.start_s = set_out_s,
                      .verb = "pull",
                      .stream = Stream::messages,
                      .rank = worker.rank,
                      .iteration = worker.iteration};
  worker.answers->start_s = std::min(worker.answers->start_s, set_out_s);
  worker.answers->end_s = now_s;
  worker.answers->bytes_received += bytes;
}

const Settings& Worker::settings() const {
  return setup_of(state_).scenario.schedule_settings;
}

std::span<const Bucket> Worker::buckets() const {
  return setup_of(state_).buckets;
}

bool Worker::next_iteration() {
  const Scenario& scenario = setup_of(state_).scenario;
  if (state_.iteration + 1 == scenario.warmup + scenario.iterations)
    return false;
  ++state_.iteration;
  state_.slowdown = jitter_factor(scenario.jitter, scenario.seed, state_.rank, state_.iteration);
  return true;
}

void Worker::forward() {
  compute(state_, 1.0 / 3, compute_row(state_, "forward"));
}

void Worker::backward(const Bucket& bucket) {
  const double share = 2.0 / 3 * bucket.forward_flop / setup_of(state_).model.forward_flop();
  compute(state_, share, compute_row(state_, "backward", bucket.index));
}

void Worker::step() {
  Row row = compute_row(state_, "step");
  row.version = state_.iteration + 1;
  state_.run.add_row(sg::Engine::get_clock(), row);
}

void Worker::start_average(const Bucket& bucket) {
  ++state_.outstanding;
  communicate(state_, bucket, [&state = state_, &bucket, iteration = state_.iteration] {
    state.stream.average(bucket, iteration, [&state] {
      if (--state.outstanding == 0)
        state.wakeup.wake();
    });
  });
}

void Worker::finish_averages() {
  wait_until(state_, [&] { return state_.outstanding == 0; });
}

void Worker::push(const Bucket& bucket) {
  const int servers = setup_of(state_).cluster.topology.servers;
  state_.outstanding += servers;  // answers
  communicate(state_, bucket, [&state = state_, &bucket, servers, iteration = state_.iteration] {
    const double start_s = sg::Engine::get_clock();
    Row row{.verb = "push",
            .stream = Stream::communication,
            .rank = state.rank,
            .bucket = bucket.index,
            .iteration = iteration};
    int under_way = servers;
    for (int s = 0; s < servers; ++s) {
      ServerState& server = *state.run.servers[static_cast<std::size_t>(s)];
      const std::uint64_t bytes = state.run.apart(state.rank, server.rank())
                                      ? share(setup_of(state).bytes_of(bucket), servers, s)
                                      : 0;
      row.bytes_sent += bytes;
      const Push push{.worker = state.rank,
                      .bucket = bucket.index,
                      .iteration = iteration,
                      .read_version = state.read_version[static_cast<std::size_t>(s)]
                                                        [static_cast<std::size_t>(bucket.index)]};
      state.run.deliver(state.rank, server.rank(), bytes,
                        [&state, &server, &under_way, push, bytes](double set_out_s) {
                          state.run.add_row(set_out_s, {.verb = "receive",
                                                        .stream = Stream::messages,
                                                        .rank = server.rank(),
                                                        .bucket = push.bucket,
                                                        .iteration = push.iteration,
                                                        .bytes_received = bytes});
                          server.pushes.add(push);
                          if (--under_way == 0)
                            state.stream.wakeup.wake();
                        });
    }
    while (under_way > 0)
      state.stream.wakeup.wait();
    state.run.add_row(start_s, row);
  });
}

void Worker::pull() {
  wait_until(state_, [&] { return state_.outstanding == 0; });
  if (state_.answers)
    state_.run.trace.rows.push_back(*state_.answers);
  state_.answers.reset();
}

void Worker::hand_over() {
  AggregatorState& node = node_of(state_);
  std::vector<std::int64_t> versions;
  for (const std::vector<std::int64_t>& of_server : state_.read_version)
    versions.push_back(of_server[0]);
  copy(state_, state_.rank, node.rank(), "hand-over");
  const int place =
      state_.rank -
      setup_of(state_).cluster.topology.nodes[static_cast<std::size_t>(node.node)].front();
  ++node.contributions[static_cast<std::size_t>(place)];
  node.gradients.push_back({.worker = state_.rank, .iteration = state_.iteration});
  node.read_versions.push_back(std::move(versions));
  state_.handed_over = static_cast<std::int64_t>(node.gradients.size());
  node.events.add({.kind = Aggregator::Event::Kind::gradient});
}

void Worker::wait_until_applied() {
  const AggregatorState& node = node_of(state_);
  wait_until(state_, [&] {
    return std::ranges::all_of(node.contained, [&](std::size_t contained) {
      return static_cast<std::int64_t>(contained) >= state_.handed_over;
    });
  });
}

void Worker::take_parameters() {
  const AggregatorState& node = node_of(state_);
  for (std::size_t s = 0; s < node.versions.size(); ++s)
    state_.read_version[s][0] = node.versions[s];
  copy(state_, node.rank(), state_.rank, "take");
}

}  // namespace syncline

#include "sim/server.h"

#include <algorithm>

#include "sim/engine/run.h"

namespace syncline {

void AppliedGradients::add(std::size_t first, std::size_t end) {
  more[first] = end;
  while (!more.empty() && more.begin()->first == all_before) {
    all_before = more.begin()->second;
    more.erase(more.begin());
  }
}

int ServerState::rank() const {
  return run.setup.traffic.cluster.topology.workers() + shard;
}

void ServerState::work(Work::Kind kind, const Bucket& bucket, int iteration, int messages) {
  run.work_on_shard(
      kind, bucket, messages,
      {.stream = Stream::compute, .rank = rank(), .bucket = bucket.index, .iteration = iteration});
}

const Settings& Server::settings() const {
  return state_.run.setup.scenario.schedule_settings;
}

int Server::workers() const {
  return state_.run.setup.traffic.cluster.topology.workers();
}

int Server::nodes() const {
  return static_cast<int>(state_.run.setup.traffic.cluster.topology.nodes.size());
}

std::optional<Push> Server::next_push() {
  return next_in(state_.pushes, [&] { return state_.run.active_workers == 0; });
}

void Server::apply(const Push& push) {
  const std::size_t bucket = index(push.bucket);
  state_.work(Work::Kind::decode, state_.run.setup.buckets[bucket], push.iteration);
  std::vector<int>& applied = state_.applied[bucket];
  const int before = applied[index(push.worker)]++;
  if (before == state_.slowest[bucket])
    state_.slowest[bucket] = *std::ranges::min_element(applied);
  Row row{.verb = "apply",
          .stream = Stream::compute,
          .rank = state_.rank(),
          .bucket = push.bucket,
          .iteration = push.iteration,
          .version = ++state_.versions[bucket],
          .read_version = push.read_version,
          .worker = push.worker};
  state_.run.add_row(sg::Engine::get_clock(), row);
  state_.run.length.applied(push.worker, push.iteration, sg::Engine::get_clock());
}

void Server::reply(const Push& push) {
  Run& run = state_.run;
  WorkerState& worker = *run.workers[index(push.worker)];
  const Bucket& bucket = run.setup.buckets[index(push.bucket)];
  const std::shared_ptr<const Payload> payload = run.payload(bucket, push.iteration);
  if (run.setup.traffic.compressed_pulls)
    state_.work(Work::Kind::encode, bucket, push.iteration);
  const std::uint64_t bytes = run.on_different_hosts(state_.rank(), worker.rank)
                                  ? share(run.setup.traffic.pulled_bytes(*payload),
                                          static_cast<int>(run.servers.size()), state_.shard)
                                  : 0;
  const std::int64_t version = state_.versions[index(push.bucket)];
  run.deliver(state_.rank(), worker.rank, bytes,
              [this_state = &state_, &worker, push, bytes, version](double sent_s) {
                this_state->run.add_row(sent_s, {.verb = "reply",
                                                 .stream = Stream::messages,
                                                 .rank = this_state->rank(),
                                                 .bucket = push.bucket,
                                                 .iteration = push.iteration,
                                                 .bytes_sent = bytes});
                worker.read_version[index(this_state->shard)][index(push.bucket)] = version;
                add_answer(worker, sent_s, bytes);
                if (--worker.outstanding == 0)
                  worker.wakeup.wake();
              });
}

int Server::slowest(int bucket) const {
  return state_.slowest[index(bucket)];
}

std::optional<NodeMessage> Server::next_message() {
  return next_in(state_.messages, [&] {
    return std::ranges::all_of(state_.run.aggregators,
                               [](const auto& node) { return node->finished(); });
  });
}

void Server::ask_for_sum(int node, std::int64_t update, int nodes_in_update) {
  AggregatorState& aggregator = *state_.run.aggregators[index(node)];
  state_.run.send(state_.rank(), aggregator.rank(), control_bytes, "ask",
                  [&aggregator, update, nodes_in_update] {
                    aggregator.events.add({.kind = Aggregator::Event::Kind::sum_wanted,
                                           .update = update,
                                           .nodes_in_update = nodes_in_update});
                  });
}

void Server::apply(const std::vector<NodeSum>& sums) {
  state_.work(Work::Kind::decode, state_.run.setup.model_bucket, -1, static_cast<int>(sums.size()));
  ++state_.version;
  for (const NodeSum& sum : sums) {
    state_.applied_of_node[index(sum.node)].add(sum.first, sum.first + sum.gradients.size());
    for (const NodeSum::Gradient& gradient : sum.gradients) {
      state_.run.add_row(sg::Engine::get_clock(), {.verb = "apply",
                                                   .stream = Stream::compute,
                                                   .rank = state_.rank(),
                                                   .iteration = gradient.iteration,
                                                   .version = state_.version,
                                                   .read_version = gradient.read_version,
                                                   .worker = gradient.worker});
      state_.run.length.applied(gradient.worker, gradient.iteration, sg::Engine::get_clock());
    }
  }
}

void Server::send_parameters(int node) {
  Run& run = state_.run;
  AggregatorState& aggregator = *run.aggregators[index(node)];
  const Payload payload = run.setup.traffic.payload_of(run.setup.model_bucket, -1);
  const std::uint64_t bytes = share(run.setup.traffic.pulled_bytes(payload),
                                    static_cast<int>(run.servers.size()), state_.shard);
  const std::int64_t version = state_.version;
  const std::size_t contained = state_.applied_of_node[index(node)].all_before;
  if (run.setup.traffic.compressed_pulls)
    state_.work(Work::Kind::encode, run.setup.model_bucket, -1);
  const auto take = [&run, &aggregator, shard = index(state_.shard), version, contained] {
    aggregator.versions[shard] = std::max(aggregator.versions[shard], version);
    aggregator.contained[shard] = std::max(aggregator.contained[shard], contained);
    for (const int rank : run.setup.traffic.cluster.topology.nodes[index(aggregator.node)])
      run.workers[index(rank)]->wakeup.wake();
  };
  run.send(state_.rank(), aggregator.rank(), bytes, "parameters", [&run, &aggregator, take] {
    if (!run.setup.traffic.compressed_pulls) {
      take();
      return;
    }
    aggregator.jobs.emplace_back([&aggregator, take] {
      aggregator.work(Work::Kind::decode);
      take();
    });
    aggregator.events.wakeup.wake();
  });
}

}  // namespace syncline

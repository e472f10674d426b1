#include "sim/aggregator.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/collectives.h"
#include "sim/engine/run.h"

namespace syncline {

int AggregatorState::rank() const {
  return run.setup.traffic.cluster.aggregator_of(node);
}

void AggregatorState::work(Work::Kind kind) {
  run.work_on_shard(kind, run.setup.model_bucket, 1,
                    {.stream = Stream::messages,
                     .rank = rank(),
                     .iteration = gradients.empty() ? -1 : gradients.back().iteration});
}

bool AggregatorState::finished() const {
  return all_ended() && events.messages.empty() && delivered == gradients.size();
}

void AggregatorState::send_report() {
  reported_ended = ended_workers;
  const NodeReport report{.node = node,
                          .gradients = static_cast<std::int64_t>(reported),
                          .delivered = static_cast<std::int64_t>(delivered),
                          .sums_delivered = sums_delivered,
                          .ended_workers = ended_workers};
  ServerState& scheduler = *run.servers.front();
  run.wire.send({rank(), scheduler.rank(), control_bytes}, Verb::report,
                [&scheduler, report] { scheduler.messages.add(report); });
}

double& AggregatorState::contributions_of(int worker) {
  return contributions[index(worker -
                             run.setup.traffic.cluster.topology.nodes[index(node)].front())];
}

void AggregatorState::add_gradient() {
  NodeGradient gradient = std::move(handed_over.front());
  handed_over.pop_front();
  if (gradients.size() > sent)  // else this gradient begins the sum
    run.sum(run.setup.model_bytes(), {.stream = Stream::compute,
                                      .rank = rank(),
                                      .iteration = gradient.iteration,
                                      .worker = gradient.worker});
  ++contributions_of(gradient.worker);
  if (gradient.values != nullptr)
    run.learner->add_to_node(node, *std::exchange(gradient.values, nullptr));
  WorkerState& worker = *run.workers[index(gradient.worker)];
  gradients.push_back(std::move(gradient));
  worker.own_gradients.push_back(gradients.size());
}

void AggregatorState::worker_ended(int rank) {
  contributions_of(rank) = std::numeric_limits<double>::infinity();
  ++ended_workers;
  events.add({.kind = Aggregator::Event::Kind::worker_stops});
}

const Settings& Aggregator::settings() const {
  return state_.run.setup.scenario.schedule_settings;
}

std::optional<Aggregator::Event> Aggregator::next() {
  for (;;) {
    if (!state_.jobs.empty()) {
      const std::function<void()> job = std::move(state_.jobs.front());
      state_.jobs.pop_front();
      job();
    } else if (!state_.events.messages.empty()) {
      const Event event = state_.events.messages.front();
      state_.events.messages.pop_front();
      if (event.kind == Event::Kind::gradient)
        state_.add_gradient();
      return event;
    } else if (state_.finished()) {
      for (const auto& server : state_.run.servers)
        server->messages.wakeup.wake();
      return std::nullopt;
    } else {
      state_.events.wakeup.wait();
    }
  }
}

bool Aggregator::completes_a_round() {
  const double rounds = *std::ranges::min_element(state_.contributions);
  return rounds > std::exchange(state_.rounds, rounds);
}

bool Aggregator::all_workers_stand() const {
  return state_.waiting_workers + state_.ended_workers ==
         static_cast<int>(state_.contributions.size());
}

void Aggregator::report() {
  if (state_.reported == state_.gradients.size() && state_.reported_ended == state_.ended_workers)
    return;
  state_.reported = state_.gradients.size();
  state_.send_report();
}

void Aggregator::send_sum(std::int64_t update, int nodes_in_update) {
  Run& run = state_.run;
  const std::size_t first = std::exchange(state_.sent, state_.gradients.size());
  const Payload payload = run.setup.traffic.payload_of(run.setup.model_bucket, -1);
  const std::vector<double> scales =
      run.learner == nullptr
          ? std::vector<double>(run.servers.size(), 1)
          : run.learner->send_sum(state_.node, update, static_cast<int>(state_.sent));
  state_.servers_reached = 0;
  for (const auto& server : run.servers) {
    NodeSum sum{.node = state_.node,
                .update = update,
                .nodes_in_update = nodes_in_update,
                .first = first,
                .gradients = {}};
    for (std::size_t i = first; i < state_.sent; ++i) {
      const NodeGradient& gradient = state_.gradients[i];
      sum.gradients.push_back({.worker = gradient.worker,
                               .iteration = gradient.iteration,
                               .read_version = gradient.read_versions[index(server->shard)]});
    }
    const std::uint64_t bytes = part_of(
        payload.parts, scaled(payload.bytes, scales[index(server->shard)]) + payload.small_bytes,
        static_cast<int>(run.servers.size()), server->shard);
    state_.work(Work::Kind::encode);
    run.wire.send({state_.rank(), server->rank(), bytes, true}, Verb::sum,
                  [&state = state_, &server = *server, sum, end = state_.sent] {
                    server.messages.add(sum);
                    if (++state.servers_reached < state.run.servers.size())
                      return;
                    state.delivered = end;
                    ++state.sums_delivered;
                    state.jobs.emplace_back([&state] { state.send_report(); });
                    state.events.wakeup.wake();
                  });
  }
}

}  // namespace syncline

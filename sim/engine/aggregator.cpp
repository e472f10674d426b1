#include "sim/aggregator.h"

#include <algorithm>
#include <utility>

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
  return active_workers == 0 && std::ranges::all_of(delivered, [&](std::size_t count) {
           return count == gradients.size();
         });
}

void AggregatorState::report(bool last) {
  for (const auto& server : run.servers) {
    const std::size_t shard = index(server->shard);
    const std::size_t oldest = pulled[shard];
    const NodeMessage message{
        .node = node,
        .is_sum = false,
        .iteration_number = static_cast<std::int64_t>(gradients.size()),
        .oldest_version = oldest < gradients.size() ? read_versions[oldest][shard] : 0,
        .last = last,
        .gradients = {}};
    run.send(rank(), server->rank(), control_bytes, "report",
             [&server = *server, message] { server.messages.add(message); });
  }
}

void AggregatorState::wake_if_finished() {
  if (!finished())
    return;
  events.wakeup.wake();
  for (const auto& server : run.servers)
    server->messages.wakeup.wake();
}

const Settings& Aggregator::settings() const {
  return state_.run.setup.scenario.schedule_settings;
}

std::optional<Aggregator::Event> Aggregator::next() {
  for (;;) {
    if (!state_.arrived.empty()) {
      const std::function<void()> job = std::move(state_.arrived.front());
      state_.arrived.pop_front();
      job();
    } else if (!state_.events.messages.empty()) {
      Event event = state_.events.messages.front();
      state_.events.messages.pop_front();
      return event;
    } else if (state_.active_workers == 0 && !state_.reported_end) {
      state_.reported_end = true;
      state_.report(true);
      state_.wake_if_finished();
    } else if (state_.finished()) {
      return std::nullopt;
    } else {
      state_.events.wakeup.wait();
    }
  }
}

bool Aggregator::completes_a_round() {
  const int rounds = *std::ranges::min_element(state_.contributions);
  return rounds > std::exchange(state_.rounds, rounds);
}

void Aggregator::report() {
  state_.report(false);
}

void Aggregator::send_sum(int server) {
  Run& run = state_.run;
  const std::size_t shard = index(server);
  const std::size_t first = state_.pulled[shard];
  const std::size_t end = state_.gradients.size();
  state_.pulled[shard] = end;
  NodeMessage sum{.node = state_.node,
                  .is_sum = true,
                  .iteration_number = static_cast<std::int64_t>(end),
                  .oldest_version = 0,
                  .last = false,
                  .gradients = {}};
  for (std::size_t i = first; i < end; ++i) {
    sum.gradients.push_back(state_.gradients[i]);
    sum.gradients.back().read_version = state_.read_versions[i][shard];
  }
  const Payload payload = run.setup.traffic.payload_of(run.setup.model_bucket, -1);
  const std::uint64_t bytes = sum.gradients.empty()
                                  ? control_bytes
                                  : share(payload.bytes + payload.small_bytes,
                                          static_cast<int>(run.servers.size()), server);
  if (!sum.gradients.empty())
    state_.work(Work::Kind::encode);
  run.send(state_.rank(), run.servers[shard]->rank(), bytes, "sum",
           [&run, &state = state_, sum, shard, end] {
             ServerState& to = *run.servers[shard];
             to.received[index(sum.node)] = std::max(to.received[index(sum.node)], end);
             to.messages.add(sum);
             state.delivered[shard] = std::max(state.delivered[shard], end);
             state.wake_if_finished();
           });
}

}  // namespace syncline

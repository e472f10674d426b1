// A worker's side of its node's aggregator: hands gradients over, and takes parameters.
#include <algorithm>

#include "sim/engine/engine_worker.h"
#include "sim/engine/run.h"

namespace syncline {
namespace {

AggregatorState& node_of(const WorkerState& state) {
  return *state.run.aggregators[index(state.cluster().topology.node_of[index(state.rank)])];
}

// Number of this worker's gradients that the parameters at its node contain, in all shards.
int own_gradients_at(const AggregatorState& node, const WorkerState& state) {
  const std::size_t contained = *std::ranges::min_element(node.contained);
  return static_cast<int>(std::ranges::upper_bound(state.own_gradients, contained) -
                          state.own_gradients.begin());
}

// Copies the whole model inside the node.
void copy(WorkerState& state, int from, int to, Verb verb, std::int64_t version = -1) {
  bool arrived = false;
  const SentMessage message =
      state.run.wire.deliver({from, to, state.setup().model_bytes()}, [&](const SentMessage&) {
        arrived = true;
        state.wakeup.wake();
      });
  state.wait_until(name_of(verb), [&] { return arrived; });
  const bool out = from == state.rank;
  Row own = state.row(verb);
  own.stream = Stream::communication;
  own.version = version;
  Row others = state.row(verb);
  others.stream = Stream::messages;
  others.rank = out ? to : from;
  if (out) {
    state.run.wire.add_sender_row(message, own);
    state.run.wire.add_receiver_row(message, others);
  } else {
    state.run.wire.add_receiver_row(message, own);
    state.run.wire.add_sender_row(message, others);
  }
}

}  // namespace

void EngineWorker::hand_over() {
  AggregatorState& node = node_of(state_);
  state_.run.length.sends(state_.rank, state_.iteration, state_.cluster().topology.servers, true);
  NodeGradient gradient{.worker = state_.rank, .iteration = state_.iteration, .read_versions = {}};
  if (state_.run.learner != nullptr)
    gradient.values = state_.run.learner->gradient(state_.rank);
  for (const std::vector<std::int64_t>& of_server : state_.read_version)
    gradient.read_versions.push_back(of_server[0]);
  copy(state_, state_.rank, node.rank(), Verb::hand_over);
  node.handed_over.push_back(std::move(gradient));
  node.events.add({.kind = Aggregator::Event::Kind::gradient});
}

void EngineWorker::wait_until_applied(double newest) {
  AggregatorState& node = node_of(state_);
  const double needed = state_.iteration + 1 - newest;
  const auto applied = [&] { return own_gradients_at(node, state_) >= needed; };
  if (applied())
    return;
  ++node.waiting_workers;
  node.events.add({.kind = Aggregator::Event::Kind::worker_stops});
  state_.wait_until("wait_until_applied()", applied);
  --node.waiting_workers;
}

void EngineWorker::take_parameters() {
  const AggregatorState& node = node_of(state_);
  for (std::size_t s = 0; s < node.versions.size(); ++s)
    state_.read_version[s][0] = node.versions[s];
  if (state_.run.learner != nullptr)
    state_.run.learner->take(state_.rank, node.node);
  const int own = own_gradients_at(node, state_);
  copy(state_, node.rank(), state_.rank, Verb::take, own);
}

}  // namespace syncline

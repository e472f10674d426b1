#include "sim/server.h"

#include <algorithm>
#include <utility>

#include "sim/collectives.h"
#include "sim/engine/run.h"

namespace syncline {
namespace {

// The sums that make the update after `version`, in the learner's form.
std::vector<Learner::Sum> learned_sums(const std::vector<NodeSum>& sums, std::int64_t version) {
  std::vector<Learner::Sum> learned;
  for (const NodeSum& sum : sums) {
    double staleness = 0;
    for (const NodeSum::Gradient& gradient : sum.gradients)
      staleness += static_cast<double>(version - gradient.read_version);
    const auto gradients = static_cast<int>(sum.gradients.size());
    learned.push_back({.node = sum.node,
                       .gradients = gradients,
                       .staleness = gradients > 0 ? staleness / gradients : 0});
  }
  return learned;
}

}  // namespace

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

ServerState::Piece& ServerState::piece_of(const Push& push) {
  return pieces[run.piece(push.bucket, push.piece)];
}

Row ServerState::row(const Push& push) const {
  return {.stream = Stream::compute,
          .rank = rank(),
          .bucket = push.bucket,
          .iteration = push.iteration,
          .worker = push.worker};
}

std::uint64_t ServerState::added_bytes(const Payload& payload) const {
  return part_of(payload.parts,
                 payload.elements > 0 ? payload.small_bytes : payload.bytes + payload.small_bytes,
                 static_cast<int>(run.servers.size()), shard);
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

int Server::working() const {
  return state_.run.active_workers;
}

std::optional<WorkerMessage> Server::next_push_or_end() {
  state_.move(std::exchange(state_.to_update, 0),
              {.stream = Stream::compute, .rank = state_.rank()});
  return next_in(state_.pushes, [&] { return state_.run.active_workers == 0; });
}

std::optional<Push> Server::next_push() {
  while (const auto message = next_push_or_end())
    if (const Push* push = std::get_if<Push>(&*message))
      return *push;
  return std::nullopt;
}

void ServerState::move(std::uint64_t bytes, Row row) {
  if (run.setup.scenario.schedule->own_parameters)
    run.sum(bytes, row);
  else
    run.update(bytes, row);
}

void ServerState::receive(const Push& push) {
  const auto tensors = index(run.setup.buckets[index(push.bucket)].tensors_of(shard));
  run.handle(static_cast<double>(run.cuts[index(push.bucket)].pushed(tensors, push.piece)),
             row(push));
}

void ServerState::add(const Push& push) {
  const Bucket& bucket = run.setup.buckets[index(push.bucket)];
  const PushedPieces& cut = run.cuts[index(push.bucket)];
  receive(push);
  work(Work::Kind::decode, bucket, push.iteration);
  const std::uint64_t bytes =
      cut.pushed(added_bytes(*run.payload(bucket, push.iteration)), push.piece);
  // A real server has added all partitions but the last when the last arrives, so only the last
  // delays the answer. The time of the others is taken before the next push.
  const std::uint64_t last = bytes / static_cast<std::uint64_t>(cut.partitions_in(push.piece));
  move(last, row(push));
  to_update += bytes - last;
}

void ServerState::count(const Push& push, bool applied) {
  const Piece& piece = piece_of(push);
  Row done = row(push);
  // Each piece has its own versions. Gradients are counted by the rows of their last pieces.
  const bool is_last = push.piece + 1 == run.cuts[index(push.bucket)].pieces;
  if (applied)
    done.verb = is_last ? Verb::apply : Verb::apply_part;
  else
    done.verb = is_last ? Verb::drop : Verb::drop_part;
  done.version = piece.version;
  done.read_version = push.read_version;
  run.add_row(sg::Engine::get_clock(), done);
  if (is_last && push.what == Push::What::gradient)
    run.learned(run.length.counted(push.worker, push.iteration, applied, sg::Engine::get_clock()));
}

void Server::apply(const Push& push) {
  state_.add(push);
  ServerState::Piece& piece = state_.piece_of(push);
  const bool is_difference = push.what == Push::What::difference;
  if (state_.run.learner != nullptr && is_difference)
    state_.run.learner->apply_difference({state_.shard, push.bucket, push.piece}, push.worker,
                                         push.iteration);
  else if (state_.run.learner != nullptr)
    state_.run.learner->apply(
        {state_.shard, push.bucket, push.piece},
        {Learner::Pushed{push.worker, push.iteration, piece.version - push.read_version}});
  AppliedPushes& own = piece.applied[index(push.worker)];
  own.interval_s = push.came_s - std::exchange(own.last_s, push.came_s);
  if (own.count++ == piece.slowest && --piece.slowest_workers == 0) {
    piece.slowest = std::ranges::min(piece.applied, {}, &AppliedPushes::count).count;
    piece.slowest_workers =
        static_cast<int>(std::ranges::count(piece.applied, piece.slowest, &AppliedPushes::count));
  }
  ++piece.version;
  state_.count(push, true);
}

bool Server::is_late(const Push& push) const {
  return push.read_version < state_.piece_of(push).version;
}

void Server::add(const Push& push) {
  state_.add(push);
}

void ServerState::apply_sum(const std::vector<Push>& pushes, const Learn& learn) {
  const Push& first = pushes.front();
  const Bucket& bucket = run.setup.buckets[index(first.bucket)];
  run.update(run.cuts[index(first.bucket)].pushed(
                 added_bytes(*run.payload(bucket, first.iteration)), first.piece),
             row(first));
  const std::int64_t updates = piece_of(first).version++;
  if (run.learner != nullptr) {
    std::vector<Learner::Pushed> gradients;
    for (const Push& push : pushes)
      gradients.push_back({push.worker, push.iteration, updates - push.read_version});
    learn({shard, first.bucket, first.piece}, updates, gradients);
  }
  for (const Push& push : pushes)
    count(push, true);
}

void Server::apply(const std::vector<Push>& pushes) {
  state_.apply_sum(pushes, [&](const PieceOf& piece, std::int64_t /*updates*/,
                               const std::vector<Learner::Pushed>& gradients) {
    state_.run.learner->apply(piece, gradients);
  });
}

void Server::apply_mean(const std::vector<Push>& pushes) {
  state_.apply_sum(pushes, [&](const PieceOf& piece, std::int64_t updates,
                               const std::vector<Learner::Pushed>& gradients) {
    state_.run.learner->apply_mean(piece, gradients, updates);
  });
}

void Server::drop(const Push& push) {
  state_.receive(push);
  if (state_.run.learner != nullptr)
    state_.run.learner->drop({state_.shard, push.bucket, push.piece}, push.worker, push.iteration);
  state_.count(push, false);
}

void Server::reply(const Push& push) {
  Run& run = state_.run;
  WorkerState& worker = *run.workers[index(push.worker)];
  const Bucket& bucket = run.setup.buckets[index(push.bucket)];
  const std::shared_ptr<const Payload> payload = run.payload(bucket, push.iteration);
  run.handle(static_cast<double>(run.cuts[index(push.bucket)].answered(
                 index(bucket.tensors_of(state_.shard)), push.piece)),
             state_.row(push));
  if (run.setup.traffic.compressed_pulls)
    state_.work(Work::Kind::encode, bucket, push.iteration);
  const Learner::Answer values = run.learner == nullptr
                                     ? Learner::Answer()
                                     : run.learner->answer({state_.shard, push.bucket, push.piece},
                                                           push.worker, push.iteration);
  const std::uint64_t answered = run.cuts[index(push.bucket)].answered(
      part_of(payload->parts, run.setup.traffic.pulled_bytes(*payload, values.scale),
              static_cast<int>(run.servers.size()), state_.shard),
      push.piece);
  const ServerState::Piece& piece = state_.piece_of(push);
  const CachedPiece answer{
      .version = piece.version, .clock = piece.slowest, .own = push.iteration + 1};
  run.wire.deliver({state_.rank(), worker.rank, answered, true},
                   [&state = state_, &worker, push, answer, values](const SentMessage& message) {
                     state.run.wire.add_sender_row(message, {.verb = Verb::reply,
                                                             .stream = Stream::messages,
                                                             .rank = state.rank(),
                                                             .bucket = push.bucket,
                                                             .iteration = push.iteration});
                     answer_arrived(worker, state.shard, push, answer, values, message);
                   });
}

const std::vector<AppliedPushes>& Server::applied(const Push& push) const {
  return state_.piece_of(push).applied;
}

int Server::slowest(const Push& push) const {
  return state_.piece_of(push).slowest;
}

std::optional<NodeMessage> Server::next_message() {
  return next_in(state_.messages, [&] {
    return std::ranges::all_of(state_.run.aggregators,
                               [](const auto& node) { return node->finished(); });
  });
}

void Server::ask_for_sum(int node, std::int64_t update, int nodes_in_update) {
  AggregatorState& aggregator = *state_.run.aggregators[index(node)];
  state_.run.wire.send({state_.rank(), aggregator.rank(), control_bytes}, Verb::ask,
                       [&aggregator, update, nodes_in_update] {
                         aggregator.events.add({.kind = Aggregator::Event::Kind::sum_wanted,
                                                .update = update,
                                                .nodes_in_update = nodes_in_update});
                       });
}

void Server::apply(const std::vector<NodeSum>& sums) {
  Run& run = state_.run;
  const Bucket& model = run.setup.model_bucket;
  for (const NodeSum& sum : sums)
    run.handle(model.tensors_of(state_.shard), {.stream = Stream::compute,
                                                .rank = state_.rank(),
                                                .iteration = static_cast<int>(sum.update),
                                                .worker = sum.node});
  state_.work(Work::Kind::decode, model, -1, static_cast<int>(sums.size()));
  const std::uint64_t bytes = state_.added_bytes(run.setup.traffic.payload_of(model, -1));
  run.update(bytes * sums.size(), {.stream = Stream::compute, .rank = state_.rank()});
  if (run.learner != nullptr)
    run.learner->apply(state_.shard, sums.front().update, learned_sums(sums, state_.version));
  ++state_.version;
  double whole = 0;
  for (const NodeSum& sum : sums) {
    state_.applied_of_node[index(sum.node)].add(sum.first, sum.first + sum.gradients.size());
    for (const NodeSum::Gradient& gradient : sum.gradients) {
      const double now_s = sg::Engine::get_clock();
      run.add_row(now_s, {.verb = Verb::apply,
                          .stream = Stream::compute,
                          .rank = state_.rank(),
                          .iteration = gradient.iteration,
                          .version = state_.version,
                          .read_version = gradient.read_version,
                          .worker = gradient.worker});
      whole += run.length.counted(gradient.worker, gradient.iteration, true, now_s);
    }
  }
  run.learned(whole);
}

void Server::send_parameters(int node) {
  Run& run = state_.run;
  AggregatorState& aggregator = *run.aggregators[index(node)];
  const Payload payload = run.setup.traffic.payload_of(run.setup.model_bucket, -1);
  const Learner::Answer values = run.learner == nullptr
                                     ? Learner::Answer()
                                     : run.learner->answer_node(state_.shard, node, state_.version);
  const std::uint64_t bytes =
      part_of(payload.parts, run.setup.traffic.pulled_bytes(payload, values.scale),
              static_cast<int>(run.servers.size()), state_.shard);
  const std::int64_t version = state_.version;
  const std::size_t contained = state_.applied_of_node[index(node)].all_before;
  run.handle(run.setup.model_bucket.tensors_of(state_.shard),
             {.stream = Stream::compute,
              .rank = state_.rank(),
              .iteration = static_cast<int>(version),
              .worker = node});
  if (run.setup.traffic.compressed_pulls)
    state_.work(Work::Kind::encode, run.setup.model_bucket, -1);
  const auto take = [&run, &aggregator, shard = index(state_.shard), version, contained, values] {
    if (run.learner != nullptr)
      run.learner->arrive_at_node(static_cast<int>(shard), aggregator.node, values,
                                  version > aggregator.versions[shard]);
    aggregator.versions[shard] = std::max(aggregator.versions[shard], version);
    aggregator.contained[shard] = std::max(aggregator.contained[shard], contained);
    for (const int rank : run.setup.traffic.cluster.topology.nodes[index(aggregator.node)])
      run.workers[index(rank)]->wakeup.wake();
  };
  run.wire.send({state_.rank(), aggregator.rank(), bytes, true}, Verb::parameters,
                [&run, &aggregator, take] {
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

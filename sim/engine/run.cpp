#include "sim/engine/run.h"

#include <algorithm>
#include <utility>

#include "sim/catalogue/server_software.h"
#include "sim/clock/traced.h"

namespace syncline {

Run::Run(const Setup& setup)
    : setup(setup),
      length(setup),
      trace(begun_trace(setup)),
      wire(*this),
      cuts(setup.cuts()),
      service_shape_(service_shape(setup.scenario.variation_at_servers())) {
  for (const std::string& host : setup.traffic.cluster.rank_hosts)
    hosts.push_back(sg::Host::by_name(host));
  if (setup.learning_task != nullptr)
    learner = std::make_unique<Learner>(setup);
  if (!setup.tensors.empty())
    cycles = std::make_unique<Cycles>(*this);
  make_states();
}

void Run::make_states() {
  const Topology& topology = setup.traffic.cluster.topology;
  const Schedule& schedule = *setup.scenario.schedule;
  // The counters of servers and aggregators grow with nodes times servers, so they exist only where
  // they are used.
  const bool serves = schedule.server != nullptr;
  const std::size_t shards = serves ? index(topology.servers) : 0;
  std::size_t pieces = 0;
  for (const PushedPieces& cut : cuts) {
    first_piece.push_back(static_cast<int>(pieces));
    pieces += index(cut.pieces);
  }
  for (int rank = 0; rank < topology.workers(); ++rank) {
    workers.push_back(std::unique_ptr<WorkerState>(new WorkerState{
        .run = *this, .rank = rank, .stages = {*this, rank}, .processor = Processor(setup)}));
    workers.back()->read_version.assign(
        shards, std::vector<std::int64_t>(std::max<std::size_t>(pieces, 1)));
    workers.back()->cache.assign(shards, std::vector<CachedPiece>(pieces));
    workers.back()->answers_of.resize(setup.buckets.size());
    workers.back()->gathering.resize(setup.buckets.size());
  }
  for (int shard = 0; shard < topology.servers; ++shard)
    if (serves)
      servers.push_back(std::unique_ptr<ServerState>(new ServerState{
          .run = *this,
          .shard = shard,
          .pieces = std::vector<ServerState::Piece>(
              pieces, {.applied = std::vector<AppliedPushes>(workers.size()),
                       .slowest_workers = topology.workers()}),
          .applied_of_node = std::vector<AppliedGradients>(topology.nodes.size())}));
    else if (setup.traffic.exchange->uses_servers)
      server_stages.push_back(std::make_unique<Stages>(*this, topology.workers() + shard));
  if (schedule.aggregator == nullptr)
    return;
  for (std::size_t node = 0; node < topology.nodes.size(); ++node)
    aggregators.push_back(std::unique_ptr<AggregatorState>(
        new AggregatorState{.run = *this,
                            .node = static_cast<int>(node),
                            .versions = std::vector<std::int64_t>(shards),
                            .contained = std::vector<std::size_t>(shards),
                            .contributions = std::vector<double>(topology.nodes[node].size())}));
}

void Run::actor_ended(int rank) {
  wire.wait_until_delivered(rank);  // so that the run ends with the last arrival
  if (--active_actors > 0)
    return;
  for (const auto& worker : workers) {
    worker->stages.wake();
    worker->compressing.wakeup.wake();
  }
  for (const auto& server : server_stages)
    server->wake();
  if (cycles != nullptr)
    cycles->wake();
}

Stages& Run::stages_of(int rank) {
  const std::size_t i = index(rank);
  return i < workers.size() ? workers[i]->stages : *server_stages[i - workers.size()];
}

std::shared_ptr<const Payload> Run::payload(const Bucket& bucket, int iteration) {
  if (cycles != nullptr && bucket.tensors > 1)
    return cycles->payload(bucket.index, iteration);
  const std::pair common(setup.traffic.compression.warm_up_stage(iteration), bucket.index);
  if (const auto known = common_payloads_.find(common); known != common_payloads_.end())
    return known->second;
  const std::pair drawn(iteration, bucket.index);
  if (const auto known = drawn_payloads_.find(drawn); known != drawn_payloads_.end())
    return known->second;
  Payload made = setup.traffic.payload_of(bucket, iteration);
  if (learner != nullptr) {  // use the sizes of the learner's messages, where they are known by now
    made.messages.clear();
    const bool known = setup.traffic.compression.message(made.elements, iteration).exact;
    if (!known && setup.traffic.partners == Schedule::Partners::each_other) {
      const Learner::Scales& scales = learner->message_scales(bucket.index, iteration);
      for (const double scale : scales.of_gradients)
        made.messages.push_back(scaled(made.bytes, scale));
      for (const double scale : scales.of_sums)
        made.sums.push_back(scaled(made.bytes, scale));
    }
  }
  auto payload = std::make_shared<const Payload>(std::move(made));
  if (payload->messages.empty()) {
    common_payloads_.emplace(common, payload);
  } else {
    drawn_payloads_.emplace(drawn, payload);
    if (drawn_payloads_.size() > 8 * setup.made().size())  // few iterations are active at a time
      drawn_payloads_.erase(drawn_payloads_.begin());
  }
  return payload;
}

void Run::collective_begins(int rank) {
  if (rank < trace.workers)
    workers[index(rank)]->processor.collective_begins();
}

void Run::collective_ends(int rank) {
  if (rank < trace.workers)
    workers[index(rank)]->processor.collective_ends();
}

void Run::add_row(double start_s, Row row) {
  row.start_s = start_s;
  row.end_s = sg::Engine::get_clock();
  trace.rows.push_back(row);
}

void Run::learned(double gradients) {
  if (learner == nullptr || gradients == 0)
    return;
  learner->applied(gradients, sg::Engine::get_clock(), wire.bytes);
  if (learner->ended())
    length.end();
}

void Run::work(const Work& work, Row row) {
  row.verb = work.kind == Work::Kind::encode ? Verb::compress : Verb::decompress;
  const double start_s = sg::Engine::get_clock();
  const double seconds = setup.traffic.compression.seconds(row.rank, work, row.iteration);
  if (seconds > 0 && row.rank < trace.workers)
    workers[index(row.rank)]->processor.compute(seconds * hosts[index(row.rank)]->get_speed());
  else if (seconds > 0 && trace.on_worker[index(row.rank)] >= 0)
    sg::this_actor::execute(seconds * hosts[index(row.rank)]->get_speed());
  else if (seconds > 0)
    sg::this_actor::sleep_for(seconds);
  add_row(start_s, row);
}

void Run::work_on_shard(Work::Kind kind, const Bucket& bucket, int messages, Row row) {
  const std::uint64_t elements = setup.traffic.shard_of(bucket);
  if (setup.traffic.compression.on() && elements > 0 && messages > 0)
    work({.kind = kind, .elements = elements, .messages = messages}, row);
}

void Run::sum(std::uint64_t bytes, Row row) {
  row.verb = Verb::sum;
  use_memory(memory_bytes_per_sum * static_cast<double>(bytes), row);
}

void Run::sum_of_partitions(std::uint64_t bytes, int partitions, double coming_s, Row row) {
  row.verb = Verb::sum;
  const double moved = memory_bytes_per_sum * static_cast<double>(bytes);
  use_memory(std::max(moved / partitions, moved - coming_s * setup.scenario.host_memory_Bps), row);
}

void Run::update(std::uint64_t bytes, Row row) {
  row.verb = Verb::update;
  // By default a plain step: it reads parameters and gradient, and writes parameters. Parameters
  // and states stay in fp32. With gradients in fp16 a step moves as many bytes: reading the
  // gradients takes fewer, but a copy of the parameters to send is written.
  const double moved = setup.scenario.optimizer.values > 0
                           ? static_cast<double>(setup.scenario.optimizer.values)
                           : memory_bytes_per_sum;
  const double values =
      static_cast<double>(bytes) / static_cast<double>(value_bytes(setup.scenario.precision));
  constexpr auto kept = static_cast<double>(value_bytes(Precision::fp32));
  use_memory(kept * moved * values, row);
}

void Run::handle(double tensors, Row row) {
  const Scenario& scenario = setup.scenario;
  const double core_s = tensors * scenario.server_software.overhead_s;
  if (core_s == 0)
    return;
  row.verb = Verb::handle;
  const double factor =
      service_factor(service_shape_, scenario.seed, row.rank, row.worker, row.iteration);
  take_turn(cores_, core_s * factor / hosts[index(row.rank)]->get_core_count(), row);
}

void Run::use_memory(double bytes, Row row) {
  if (bytes > 0)
    take_turn(memories_, bytes / setup.scenario.host_memory_Bps, row);
}

void Run::take_turn(Turns& turns, double seconds, Row row) {
  double& free_s = turns[hosts[index(row.rank)]];
  const double start_s = std::max(sg::Engine::get_clock(), free_s);
  free_s = start_s + seconds;
  sg::this_actor::sleep_until(free_s);
  add_row(start_s, row);
}

sg::ActorPtr Run::start(const std::string& name, int rank, std::function<void()> body) {
  const auto guarded = [this, body = std::move(body)] {
    try {
      body();
    } catch (const std::exception& problem) {
      // To stop an actor, SimGrid throws something that is no std::exception, so it is not caught
      // here.
      if (error.empty())
        error = problem.what();
      if (wire.flows != nullptr)
        wire.flows->stop();
      sg::Actor::kill_all();
    }
  };
  // Actor::create and Host::add_actor do not exist in every version of SimGrid; this call does.
  return sg::Actor::init(name, hosts[index(rank)])->start(guarded);
}

}  // namespace syncline

// The parts of a run that all verbs share: its actors, its messages, its counters.
#include "sim/engine/run.h"

#include <algorithm>
#include <utility>

#include "sim/setup/network.h"

namespace syncline {

Run::Run(const Setup& setup)
    : setup(setup), length(setup), routes(setup.traffic.cluster.rank_hosts) {
  const Cluster& cluster = setup.traffic.cluster;
  const Topology& topology = cluster.topology;
  for (const std::string& host : cluster.rank_hosts)
    hosts.push_back(sg::Host::by_name(host));
  porters_.resize(hosts.size());
  trace.rank_names = cluster.rank_names;
  trace.workers = topology.workers();
  trace.servers = topology.servers;
  trace.node_of = topology.node_of;
  std::unordered_map<const sg::Host*, int> worker_on;
  for (int rank = 0; rank < topology.workers(); ++rank)
    worker_on.emplace(hosts[index(rank)], rank);
  for (const sg::Host* host : hosts) {
    const auto worker = worker_on.find(host);
    trace.on_worker.push_back(worker == worker_on.end() ? -1 : worker->second);
  }
  for (const HostFacts& host : cluster.workers)
    trace.one_core.push_back(host.cores == 1);

  if (setup.lesson != nullptr)
    learner = std::make_unique<Learner>(setup);
  const Schedule& schedule = *setup.scenario.schedule;
  trace.in_step = schedule.waits(setup.scenario.schedule_settings) == Schedule::Waiting::for_all;
  trace.round = setup.traffic.round;
  // The counters of servers and aggregators grow with nodes times servers: only where used.
  const bool serves = schedule.server != nullptr;
  const std::size_t shards = serves ? index(topology.servers) : 0;
  const std::size_t buckets = setup.buckets.size();
  cuts = setup.cuts();
  std::size_t pieces = 0;
  for (const Cut& cut : cuts) {
    first_piece.push_back(static_cast<int>(pieces));
    pieces += index(cut.pieces);
  }
  for (int rank = 0; rank < topology.workers(); ++rank) {
    workers.push_back(std::unique_ptr<WorkerState>(
        new WorkerState{.run = *this, .rank = rank, .stages = {*this, rank}}));
    workers.back()->read_version.assign(
        shards, std::vector<std::int64_t>(std::max<std::size_t>(pieces, 1)));
    workers.back()->cache.assign(shards, std::vector<CachedPiece>(pieces));
    workers.back()->answers_of.resize(buckets);
  }
  for (int shard = 0; shard < topology.servers; ++shard)
    if (serves)
      servers.push_back(std::unique_ptr<ServerState>(new ServerState{
          .run = *this,
          .shard = shard,
          .pieces = std::vector<ServerState::Piece>(
              pieces, {.version = 0, .applied = std::vector<int>(workers.size())}),
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

void Run::deliver(int from, int to, std::uint64_t bytes, std::function<void(double)> arrived,
                  std::function<void()> injected) {
  if (!on_different_hosts(from, to)) {
    arrived(sg::Engine::get_clock());
    if (injected)
      injected();
    return;
  }
  on_the_wire(from, to, bytes);
  porter(from).send(porter(to), bytes, std::move(arrived), std::move(injected));
}

Porter& Run::porter(int rank) {
  std::unique_ptr<Porter>& porter = porters_[index(rank)];
  if (porter == nullptr)
    porter = std::make_unique<Porter>(*this, rank);
  return *porter;
}

void Run::add_send_rows(int from, int to, std::string_view verb, const ShardMessage& message) {
  add_row(message.sent_s,
          {.verb = verb, .stream = Stream::messages, .rank = from, .bytes_sent = message.bytes});
  sends({message.number});
  add_row(message.sent_s,
          {.verb = verb, .stream = Stream::messages, .rank = to, .bytes_received = message.bytes});
  receives({message.number});
}

void Run::send(int from, int to, std::uint64_t bytes, std::string_view verb,
               std::function<void()> arrived) {
  const std::uint64_t on_wire = on_different_hosts(from, to) ? bytes : 0;
  const std::int64_t message = message_sent(from, to, on_wire);
  deliver(from, to, on_wire,
          [this, from, to, on_wire, message, verb, arrived = std::move(arrived)](double sent_s) {
            message_arrived(message, sg::Engine::get_clock());
            add_send_rows(from, to, verb, {sent_s, on_wire, message});
            arrived();
          });
}

std::vector<Run::Hop> Run::hops(int from, int to, std::uint64_t bytes) const {
  if (setup.node_parts.empty())
    return {{from, to, on_different_hosts(from, to) ? bytes : 0}};
  const Cluster& cluster = setup.traffic.cluster;
  const auto nodes = static_cast<int>(cluster.topology.nodes.size());
  const int first_server = cluster.topology.workers();
  const bool to_server = to >= first_server && to < cluster.topology.ranks();
  const int other = to_server ? from : to;
  const int node = other < first_server ? cluster.topology.node_of[index(other)]
                                        : other - cluster.aggregator_of(0);
  std::vector<Hop> all;
  for (const DistanceRange& parts : setup.node_parts) {
    // On its own host the server sends by itself, and then waits for that before it ends.
    const int place = (node + parts.middle) % nodes;
    const int server = place == 0 ? first_server : cluster.aggregator_of(place);
    all.push_back({.from = to_server ? other : server,
                   .to = to_server ? server : other,
                   .bytes = on_different_hosts(other, server)
                                ? shares(bytes, nodes, parts.first, parts.last + 1)
                                : 0});
  }
  return all;
}

ShardMessage Run::deliver_shard(int from, int to, std::uint64_t bytes,
                                std::function<void(const ShardMessage&)> arrived,
                                std::function<void()> injected) {
  struct Missing {
    std::size_t arrivals;
    std::size_t injections;
    ShardMessage message;
    std::function<void(const ShardMessage&)> arrived;
    std::function<void()> injected;
  };
  const std::vector<Hop> all = hops(from, to, bytes);
  ShardMessage message{.sent_s = sg::Engine::get_clock(), .bytes = 0, .number = 0};
  for (const Hop& hop : all)
    message.bytes += hop.bytes;
  message.number = message_sent(from, to, message.bytes);
  const auto missing = std::make_shared<Missing>(  // with braces: clang 14 needs them
      Missing{all.size(), all.size(), message, std::move(arrived), std::move(injected)});
  for (const Hop& hop : all)
    deliver(
        hop.from, hop.to, hop.bytes,
        [this, missing](double /*sent_s*/) {
          if (--missing->arrivals > 0)
            return;
          message_arrived(missing->message.number, sg::Engine::get_clock());
          missing->arrived(missing->message);
        },
        [missing] {
          if (--missing->injections == 0 && missing->injected)
            missing->injected();
        });
  return message;
}

void Run::send_shard(int from, int to, std::uint64_t bytes, std::string_view verb,
                     std::function<void()> arrived) {
  deliver_shard(from, to, bytes,
                [this, from, to, verb, arrived = std::move(arrived)](const ShardMessage& message) {
                  add_send_rows(from, to, verb, message);
                  arrived();
                });
}

std::int64_t Run::message_sent(int from, int to, std::uint64_t bytes) {
  if (setup.keep_messages)
    trace.messages.push_back(
        {.sent_s = sg::Engine::get_clock(), .from = from, .to = to, .bytes = bytes});
  return static_cast<std::int64_t>(trace.messages.size()) - 1;
}

void Run::message_arrived(std::int64_t message, double at_s) {
  if (setup.keep_messages)
    trace.messages[static_cast<std::size_t>(message)].arrived_s = at_s;
}

void Run::sends(const std::vector<std::int64_t>& messages, std::size_t rows_before) {
  for (const std::int64_t message : messages)
    if (setup.keep_messages)
      trace.messages[static_cast<std::size_t>(message)].sender_row =
          static_cast<std::int64_t>(trace.rows.size() - 1 - rows_before);
}

void Run::receives(const std::vector<std::int64_t>& messages, std::size_t rows_before) {
  for (const std::int64_t message : messages)
    if (setup.keep_messages)
      trace.messages[static_cast<std::size_t>(message)].receiver_row =
          static_cast<std::int64_t>(trace.rows.size() - 1 - rows_before);
}

void Run::actor_ended(int rank) {
  if (const auto& porter = porters_[index(rank)])
    porter->wait_until_delivered();  // so that the run ends with the last arrival
  if (--active_actors > 0)
    return;
  for (const auto& worker : workers) {
    worker->stages.wake();
    worker->compressing.wakeup.wake();
  }
  for (const auto& server : server_stages)
    server->wake();
}

Stages& Run::stages_of(int rank) {
  const std::size_t i = index(rank);
  return i < workers.size() ? workers[i]->stages : *server_stages[i - workers.size()];
}

std::shared_ptr<const Payload> Run::payload(const Bucket& bucket, int iteration) {
  const std::pair common(setup.traffic.compression.warm_up_stage(iteration), bucket.index);
  if (const auto known = common_payloads_.find(common); known != common_payloads_.end())
    return known->second;
  const std::pair own(iteration, bucket.index);
  if (const auto known = drawn_payloads_.find(own); known != drawn_payloads_.end())
    return known->second;
  Payload made = setup.traffic.payload_of(bucket, iteration);
  if (learner != nullptr) {  // sizes are those of the messages, where they can be known by now
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
    drawn_payloads_.emplace(own, payload);
    if (drawn_payloads_.size() > 8 * setup.buckets.size())  // few iterations are active at a time
      drawn_payloads_.erase(drawn_payloads_.begin());
  }
  return payload;
}

std::uint64_t Run::on_the_wire(int from, int to, std::uint64_t bytes) {
  if (!on_different_hosts(from, to))
    return 0;
  bytes_between[static_cast<std::uint64_t>(from) * hosts.size() + static_cast<std::uint64_t>(to)] +=
      static_cast<double>(bytes);
  bytes_sent += static_cast<double>(bytes);
  ++trace.flows;
  return bytes;
}

double Run::latency_after_flow_s(int from, int to) {
  return setup.scenario.network->latency_after_flow ? routes.latency_s(from, to) : 0;
}

void Run::add_row(double start_s, Row row) {
  row.start_s = start_s;
  row.end_s = sg::Engine::get_clock();
  trace.rows.push_back(row);
}

void Run::learned(int gradients) {
  if (learner == nullptr)
    return;
  learner->applied(gradients, sg::Engine::get_clock(), bytes_sent);
  if (learner->ended())
    length.end();
}

void Run::work(const Work& work, Row row) {
  row.verb = work.kind == Work::Kind::encode ? "compress" : "decompress";
  const double start_s = sg::Engine::get_clock();
  const double seconds = setup.traffic.compression.seconds(row.rank, work, row.iteration);
  if (seconds > 0 && trace.on_worker[index(row.rank)] >= 0)
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
  row.verb = "sum";
  use_memory(memory_bytes_per_sum * static_cast<double>(bytes), row);
}

void Run::sum_of_parts(std::uint64_t bytes, int parts, double coming_s, Row row) {
  row.verb = "sum";
  const double moved = memory_bytes_per_sum * static_cast<double>(bytes);
  use_memory(std::max(moved / parts, moved - coming_s * setup.scenario.host_memory_Bps), row);
}

void Run::update(std::uint64_t bytes, Row row) {
  row.verb = "update";  // a plain step reads parameters and gradient and writes parameters
  // Parameters and states stay in fp32. With gradients in fp16 a step moves as much: what it spares
  // in reading them it spends on a copy of the parameters to send.
  const double moved = setup.scenario.optimizer_values > 0
                           ? static_cast<double>(setup.scenario.optimizer_values)
                           : memory_bytes_per_sum;
  const double values =
      static_cast<double>(bytes) / static_cast<double>(value_bytes(setup.scenario.precision));
  constexpr auto kept = static_cast<double>(value_bytes(Precision::fp32));
  use_memory(kept * moved * values, row);
}

void Run::use_memory(double bytes, Row row) {
  if (bytes == 0)
    return;
  sg::MutexPtr& memory = memories_[hosts[index(row.rank)]->get_name()];
  if (memory == nullptr)
    memory = sg::Mutex::create();
  memory->lock();
  const double start_s = sg::Engine::get_clock();
  sg::this_actor::sleep_for(bytes / setup.scenario.host_memory_Bps);
  memory->unlock();
  add_row(start_s, row);
}

sg::ActorPtr Run::start(const std::string& name, int rank, std::function<void()> body) {
  const auto guarded = [this, body = std::move(body)] {
    try {
      body();
    } catch (const std::exception& problem) {
      // What SimGrid throws to stop an actor is not a std::exception, so it is not caught here.
      if (error.empty())
        error = problem.what();
      sg::Actor::kill_all();
    }
  };
  // Neither Actor::create nor Host::add_actor exists in every version; this does.
  return sg::Actor::init(name, hosts[index(rank)])->start(guarded);
}

}  // namespace syncline

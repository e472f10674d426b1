#include "sim/simulation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "kernels/registry.h"
#include "sim/bounds.h"
#include "sim/engine.h"
#include "sim/schedule.h"
#include "sim/worker.h"

namespace syncline {
namespace {

// How many of a bucket's parameters are in tensors too small to compress.
void count_small_tensors(const Setup& setup, std::vector<Bucket>& buckets) {
  auto layer = setup.model.layers.rbegin();
  for (Bucket& bucket : buckets)
    for (int i = 0; i < bucket.tensors; ++i, ++layer)
      if (layer->parameters < setup.scenario.dense_below)
        bucket.dense_parameters += layer->parameters;
}

// Work on messages that a run asks the price of. Gathered for the errors of cost tables, which name
// at once all that they lack.
class Prices {
 public:
  explicit Prices(const Setup& setup) : setup_(setup) {}

  // Of exchanges: the work in their plans.
  void average(const Bucket& bucket, int iteration) {
    const Payload payload = setup_.payload_of(bucket, -1);
    for (const int rank : setup_.compression.one_worker_of_each_table())
      for (const Phase& phase : setup_.plan_of(payload, rank))
        if (phase.messages > 0)
          add(rank, phase.name, phase.elements, iteration);
  }
  // Of messages between a client, a worker or an aggregator, and servers.
  void serve(int client, std::uint64_t made, std::uint64_t shard, int iteration) {
    const int server = setup_.cluster.topology.workers();
    add(client, "compress", made, iteration);
    add(server, "decompress", shard, iteration);
    if (!setup_.pulls_compressed())
      return;
    add(server, "compress", shard, iteration);
    add(client, "decompress", made, iteration);
  }
  // Of all that the schedule does with this bucket.
  void run(const Bucket& bucket) {
    const Schedule& schedule = Registered<Schedule>::find(setup_.scenario.schedule);
    for (const int iteration : setup_.compression.first_iterations())
      if (schedule.aggregator != nullptr) {
        const std::uint64_t shard = setup_.shard_of(setup_.whole);
        for (std::size_t node = 0; node < setup_.cluster.topology.nodes.size(); ++node)
          serve(setup_.cluster.aggregator_of(static_cast<int>(node)), shard, shard, iteration);
      } else if (schedule.server != nullptr) {
        for (const int rank : setup_.compression.one_worker_of_each_table())
          serve(rank, setup_.compressed_of(bucket), setup_.shard_of(bucket), iteration);
      } else {
        average(bucket, iteration);
      }
  }
  std::string lacking() const { return setup_.compression.unpriced(works_); }

 private:
  void add(int rank, std::string_view verb, std::uint64_t elements, int iteration) {
    works_.push_back({.rank = rank, .verb = verb, .elements = elements, .iteration = iteration});
  }

  const Setup& setup_;
  std::vector<Work> works_;
};

// What the tables lack is told before anything is simulated.
void check_prices(const Setup& setup) {
  if (!setup.compression.on())
    return;
  Prices prices(setup);
  for (const Bucket& bucket : setup.buckets)
    prices.run(bucket);
  const bool merged = setup.scenario.bucket_bytes == "merged";
  if (merged)
    prices.average(setup.whole, -1);  // what merging goes by
  if (prices.lacking().empty())
    return;
  // Which tensors are merged depends on prices: with those of single tensors and of all together,
  // there is one for whatever is merged.
  std::vector<Bucket> tensors = fused_buckets(setup.model, 0, 1);
  count_small_tensors(setup, tensors);
  if (merged)
    for (const Bucket& tensor : tensors)
      prices.run(tensor);
  throw std::invalid_argument(prices.lacking());
}

std::vector<Bucket> buckets_of(const Setup& setup) {
  const Scenario& scenario = setup.scenario;
  const int value_bytes = scenario.gradient_value_bytes();
  if (scenario.bucket_bytes == "all")
    return fused_buckets(setup.model, std::numeric_limits<double>::infinity(), value_bytes);
  if (scenario.bucket_bytes != "merged")
    return fused_buckets(setup.model, std::stod(scenario.bucket_bytes), value_bytes);
  check_prices(setup);
  Routes routes(setup.cluster.rank_hosts);
  const ExchangeCost cost = gradient_cost(setup, routes);
  return merged_buckets(setup.model, value_bytes, setup.times.solo_s.front() * 2 / 3,
                        cost.startup_s, cost.seconds_per_byte, cost.compress_seconds_per_byte);
}

void run_worker(Run& run, WorkerState& state, const Schedule& schedule) {
  Worker worker(state);
  schedule.worker(worker);
  if (schedule.aggregator != nullptr) {
    AggregatorState& node =
        *run.aggregators[index(run.setup.cluster.topology.node_of[index(state.rank)])];
    if (--node.working == 0)
      node.events.wakeup.wake();
  }
  if (--run.working == 0)
    for (const auto& server : run.servers)
      server->pushes.wakeup.wake();
  run.one_has_ended(state.rank);
}

// A server's part in averaging: every bucket of every iteration, in the workers' order.
void serve_averages(const Run& run, StreamState& stream) {
  const Scenario& scenario = run.setup.scenario;
  for (int i = 0; i < scenario.warmup + scenario.iterations; ++i)
    for (const Bucket& bucket : run.setup.buckets)
      stream.average(*stream.plan(bucket, i), bucket, i, [] {});
}

void start_actors(Run& run, const Schedule& schedule) {
  run.working = static_cast<int>(run.workers.size());
  run.acting = run.working;
  for (const auto& worker : run.workers) {
    run.start("worker", worker->rank, [&] { run_worker(run, *worker, schedule); });
    if (schedule.aggregator == nullptr)
      run.start("stream", worker->rank, [&] { worker->stream.jobs.main(); });
    if (compresses_beside(*worker))
      run.start("compression", worker->rank, [&] { worker->compressing.main(); });
  }
  if (schedule.server != nullptr) {
    for (const auto& server : run.servers) {
      ++run.acting;
      run.start("server", server->rank(), [&] {
        Server verbs(*server);
        schedule.server(verbs);
        run.one_has_ended(server->rank());
      });
    }
  } else if (run.exchange.uses_servers) {
    for (const auto& stream : run.server_streams)
      run.start("server", stream->rank, [&] { serve_averages(run, *stream); });
  }
  if (schedule.aggregator != nullptr)
    for (const auto& aggregator : run.aggregators) {
      ++run.acting;
      run.start("node", aggregator->rank(), [&] {
        Aggregator verbs(*aggregator);
        schedule.aggregator(verbs);
        run.one_has_ended(aggregator->rank());
      });
    }
}

std::vector<LinkUse> link_uses(Run& run) {
  std::vector<LinkUse> uses;
  for (const auto& [pair, bytes] : run.bytes_between) {
    const auto from = static_cast<int>(pair / run.hosts.size());
    const auto to = static_cast<int>(pair % run.hosts.size());
    const Route route = run.routes.between(from, to);
    for (std::size_t i = uses.size(); i < run.routes.links().size(); ++i)
      uses.push_back({run.routes.links()[i].name, run.routes.links()[i].bandwidth_Bps, 0});
    for (const int link : route.links)
      uses[index(link)].bytes += bytes;
  }
  return uses;
}

}  // namespace

Setup prepare(const Scenario& scenario) {
  Setup setup{.scenario = scenario, .model = read_model(scenario.model)};
  try {
    setup.cluster = choose_cluster(load_platform(scenario), scenario);
  } catch (const std::exception& error) {
    // SimGrid's messages about a file name it, ours about its hosts do not.
    const std::string what = error.what();
    throw std::runtime_error(what.find(scenario.platform) == std::string::npos
                                 ? "platform " + scenario.platform + ": " + what
                                 : what);
  }
  setup.times = compute_times(scenario, setup.model, setup.cluster);
  setup.compression = Compression(scenario, setup.cluster);
  const double everything = std::numeric_limits<double>::infinity();
  std::vector<Bucket> whole = fused_buckets(setup.model, everything, 1);
  count_small_tensors(setup, whole);
  setup.whole = whole.front();
  if (setup.compression.wants_network_prices()) {
    Routes routes(setup.cluster.rank_hosts);
    const ExchangeCost cost = message_cost(setup, routes);
    setup.compression.price_network(cost.startup_s, cost.seconds_per_byte);
  }
  setup.buckets = buckets_of(setup);
  count_small_tensors(setup, setup.buckets);
  check_prices(setup);
  return setup;
}

std::uint64_t Setup::shard_of(const Bucket& bucket) const {
  const std::uint64_t elements = compressed_of(bucket);
  const auto shards = static_cast<std::uint64_t>(cluster.topology.servers);
  return elements == 0 ? 0 : std::max<std::uint64_t>(elements / shards, 1);
}

bool Setup::pulls_compressed() const {
  const auto pull = scenario.words.find("pull");
  return compression.on() && pull != scenario.words.end() && pull->second == "compressed";
}

Payload Setup::payload_of(const Bucket& bucket, int iteration) const {
  if (!compression.on())
    return dense(bytes_of(bucket));
  const auto value_bytes = static_cast<std::uint64_t>(scenario.gradient_value_bytes());
  Payload payload;
  payload.elements = compressed_of(bucket);
  payload.dense_bytes = payload.elements * value_bytes;
  payload.beside = bucket.dense_parameters * value_bytes;
  const WireSize size = compression.message(payload.elements, iteration);
  payload.bytes = static_cast<std::uint64_t>(std::llround(size.bytes));
  payload.summable = compression.compressor().reducible;
  payload.rounds = compression.compressor().first_half ? 2 : 1;
  if (iteration >= 0 && size.low < size.high)
    for (int worker = 0; worker < cluster.topology.workers(); ++worker)
      payload.messages.push_back(compression.drawn_bytes(size, worker, iteration, bucket.index));
  return payload;
}

Plan Setup::plan_of(const Payload& payload, int rank) const {
  const Plan plan = syncline::plan_of(Registered<Exchange>::find(scenario.exchange),
                                      cluster.topology, scenario.exchange_settings, payload, rank);
  return scenario.every_step ? plan : with_fused_rounds(plan, cluster.topology, rank);
}

Trace simulate(const Setup& setup) {
  Run run(setup);
  const Schedule& schedule = Registered<Schedule>::find(setup.scenario.schedule);
  start_actors(run, schedule);
  // Else SimGrid says so on stderr, drops whoever still waits, and returns as if all were well.
  sg::Engine::on_deadlock_cb([&run] {
    if (run.error.empty())
      run.error = "the schedule has come to a stand: some of its actors wait for what never comes";
  });
  sg::Engine::get_instance()->run();
  if (!run.error.empty())
    throw std::runtime_error(run.error);
  run.trace.end_s = sg::Engine::get_clock();
  run.trace.links = link_uses(run);
  return std::move(run.trace);
}

}  // namespace syncline

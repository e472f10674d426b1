#include "sim/simulation.h"

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

std::vector<Bucket> buckets_of(const Setup& setup) {
  const Scenario& scenario = setup.scenario;
  const int value_bytes = scenario.gradient_value_bytes();
  if (scenario.bucket_bytes == "all")
    return fused_buckets(setup.model, std::numeric_limits<double>::infinity(), value_bytes);
  if (scenario.bucket_bytes != "merged")
    return fused_buckets(setup.model, std::stod(scenario.bucket_bytes), value_bytes);
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
  // What a table lacks is told before anything is simulated.
  for (const Bucket& bucket : setup.buckets)
    for (const int iteration : setup.compression.first_iterations())
      setup.compression.seconds(0, "compress", bucket.parameters - bucket.dense_parameters, 1,
                                iteration);
  return setup;
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
  payload.elements = bucket.parameters - bucket.dense_parameters;
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

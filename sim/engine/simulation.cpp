#include "sim/engine/simulation.h"

#include <stdexcept>
#include <vector>

#include "sim/engine/run.h"
#include "sim/schedule.h"

namespace syncline {
namespace {

void run_worker(Run& run, WorkerState& state, const Schedule& schedule) {
  Worker worker(state);
  schedule.worker(worker);
  if (!run.aggregators.empty())
    run.aggregators[index(run.setup.traffic.cluster.topology.node_of[index(state.rank)])]
        ->worker_ended(state.rank);
  if (--run.active_workers == 0)
    for (const auto& server : run.servers)
      server->pushes.wakeup.wake();
  run.actor_ended(state.rank);
}

// What a server does in averaging: every bucket of every iteration, in the workers' order.
void serve_averages(const Run& run, StreamState& stream) {
  const Scenario& scenario = run.setup.scenario;
  for (int i = 0; i < scenario.warmup + scenario.iterations; ++i)
    for (const Bucket& bucket : run.setup.buckets)
      stream.average(*stream.plan(bucket, i), bucket, i, [] {});
}

void start_actors(Run& run, const Schedule& schedule) {
  run.active_workers = static_cast<int>(run.workers.size());
  run.active_actors =
      run.active_workers + static_cast<int>(run.servers.size() + run.aggregators.size());
  for (const auto& worker : run.workers) {
    run.start("worker", worker->rank, [&] { run_worker(run, *worker, schedule); });
    if (run.aggregators.empty())
      run.start("stream", worker->rank, [&] { worker->stream.jobs.run_until_over(); });
    if (compresses_on_second_core(*worker))
      run.start("compression", worker->rank, [&] { worker->compressing.run_until_over(); });
  }
  for (const auto& server : run.servers)
    run.start("server", server->rank(), [&] {
      Server verbs(*server);
      schedule.server(verbs);
      run.actor_ended(server->rank());
    });
  for (const auto& stream : run.server_streams)
    run.start("server", stream->rank, [&] { serve_averages(run, *stream); });
  for (const auto& aggregator : run.aggregators)
    run.start("node", aggregator->rank(), [&] {
      Aggregator verbs(*aggregator);
      schedule.aggregator(verbs);
      run.actor_ended(aggregator->rank());
    });
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

Trace simulate(const Setup& setup) {
  Run run(setup);
  start_actors(run, *setup.scenario.schedule);
  // Without this SimGrid only reports a deadlock on stderr, stops the waiting actors, and returns
  // as after a complete run.
  sg::Engine::on_deadlock_cb([&run] {
    if (run.error.empty())
      run.error = "the schedule has a deadlock: some of its actors wait for what never comes";
  });
  sg::Engine::get_instance()->run();
  if (!run.error.empty())
    throw std::runtime_error(run.error);
  run.trace.end_s = sg::Engine::get_clock();
  run.trace.links = link_uses(run);
  return std::move(run.trace);
}

}  // namespace syncline

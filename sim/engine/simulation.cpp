#include "sim/engine/simulation.h"

#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/engine/alike_servers.h"
#include "sim/engine/deadlock.h"
#include "sim/engine/engine_worker.h"
#include "sim/engine/link_samples.h"
#include "sim/engine/run.h"
#include "sim/schedule.h"
#include "sim/window.h"

namespace syncline {
namespace {

void run_worker(Run& run, WorkerState& state, const Schedule& schedule) {
  EngineWorker worker(state);
  schedule.worker(worker);
  state.waits_in = "its end";
  while (state.outstanding > 0)  // answers that it did not wait for
    state.wakeup.wait();
  state.waits_in = {};
  end_answers(state);
  if (!run.aggregators.empty())
    run.aggregators[index(run.setup.traffic.cluster.topology.node_of[index(state.rank)])]
        ->worker_ended(state.rank);
  --run.active_workers;
  for (const auto& server : run.servers)
    server->pushes.add(WorkerEnd{.worker = state.rank});
  run.actor_ended(state.rank);
}

void start_actors(Run& run, const Schedule& schedule) {
  run.active_workers = static_cast<int>(run.workers.size());
  run.active_actors =
      run.active_workers + static_cast<int>(run.servers.size() + run.aggregators.size());
  // Before any actor has a stack: on memory that plans have used, a stack counts in full.
  for (const auto& worker : run.workers)
    worker->stages.make_streams();
  for (const auto& server : run.server_stages)
    server->make_streams();
  for (const auto& worker : run.workers) {
    run.start("worker", worker->rank, [&] { run_worker(run, *worker, schedule); });
    if (run.aggregators.empty())
      worker->stages.start("stream");
    if (worker->compresses_on_second_core())
      run.start("compression", worker->rank, [&] { worker->compressing.run_until_over(); });
  }
  if (run.cycles != nullptr)
    run.start("cycle", 0, [&] { run.cycles->run_until_over(); });
  for (const auto& server : run.servers)
    run.start("server", server->rank(), [&] {
      Server verbs(*server);
      schedule.server(verbs);
      run.actor_ended(server->rank());
    });
  for (const auto& server : run.server_stages)
    server->start("server");
  for (const auto& aggregator : run.aggregators)
    run.start("node", aggregator->rank(), [&] {
      Aggregator verbs(*aggregator);
      schedule.aggregator(verbs);
      run.actor_ended(aggregator->rank());
    });
}

// By rank, the part of what it sends or receives in the whole run that belongs to the window.
struct MeasuredParts {
  std::vector<double> sent;
  std::vector<double> received;
};

MeasuredParts measured_parts(const Trace& trace, const MeasuredWindow& measured) {
  const auto part_of = [&](std::uint64_t Row::*bytes) {
    std::vector<double> all(trace.rank_names.size());
    std::vector<double> inside(trace.rank_names.size());
    for (const Row& row : trace.rows) {
      all[index(row.rank)] += static_cast<double>(row.*bytes);
      inside[index(row.rank)] += static_cast<double>(row.*bytes) * measured.part(row);
    }
    for (std::size_t rank = 0; rank < all.size(); ++rank)
      inside[rank] = all[rank] > 0 ? inside[rank] / all[rank] : 0;
    return inside;
  };
  return {.sent = part_of(&Row::bytes_sent), .received = part_of(&Row::bytes_received)};
}

// A worker, or a node, sends to the others in the same proportions in the window as in the whole
// run, and receives from them likewise. Not so a server: it answers whoever pushes.
std::vector<LinkUse> link_uses(Run& run, const MeasuredParts& measured) {
  std::vector<LinkUse> uses;
  for (const auto& [pair, bytes] : run.wire.bytes_between) {
    const auto from = static_cast<int>(pair / run.hosts.size());
    const auto to = static_cast<int>(pair % run.hosts.size());
    const Route route = run.wire.routes.between(from, to);
    const bool server_sends =
        from >= run.trace.workers &&
        (run.aggregators.empty() || from < run.trace.workers + run.trace.servers);
    const double part = server_sends ? measured.received[index(to)] : measured.sent[index(from)];
    for (std::size_t i = uses.size(); i < run.wire.routes.links().size(); ++i)
      uses.push_back({.name = run.wire.routes.links()[i].name,
                      .bandwidth = run.wire.routes.links()[i].bandwidth,
                      .fatpipe = run.wire.routes.links()[i].fatpipe});
    for (const std::vector<int>* links : {&route.links, &route.fatpipes})
      for (const int link : *links) {
        LinkUse& use = uses[index(link)];
        use.bytes += bytes;
        use.measured_bytes += bytes * part;
        use.measured_flow_bytes = std::max(use.measured_flow_bytes, bytes * part);
      }
  }
  return uses;
}

// A host that is on no node is one by itself.
std::vector<int> nodes_of_ranks(const Cluster& cluster) {
  std::unordered_map<std::string, int> node_of;
  for (std::size_t worker = 0; worker < cluster.workers.size(); ++worker)
    node_of.emplace(cluster.workers[worker].name, cluster.topology.node_of[worker]);
  for (std::size_t node = 0; node < cluster.node_hosts.size(); ++node)
    node_of.emplace(cluster.node_hosts[node], static_cast<int>(node));
  std::vector<int> nodes;
  for (const std::string& host : cluster.rank_hosts)
    nodes.push_back(node_of.emplace(host, -1 - static_cast<int>(node_of.size())).first->second);
  return nodes;
}

std::vector<double> parts_off_node(const Run& run) {
  const std::vector<int> nodes = nodes_of_ranks(run.setup.traffic.cluster);
  std::vector<double> off(nodes.size());
  std::vector<double> all(nodes.size());
  for (const auto& [pair, bytes] : run.wire.bytes_between) {
    const std::size_t from = pair / run.hosts.size();
    all[from] += bytes;
    if (nodes[from] != nodes[pair % run.hosts.size()])
      off[from] += bytes;
  }
  for (std::size_t rank = 0; rank < off.size(); ++rank)
    off[rank] = all[rank] > 0 ? off[rank] / all[rank] : 0;
  return off;
}

}  // namespace

Trace simulate(const Setup& given, std::function<void(const CurvePoint&)> evaluated) {
  const std::optional<AlikeServers> alike = AlikeServers::of(given);
  const Setup setup = alike ? alike->as_one(given) : given;
  Run run(setup);
  if (run.learner != nullptr)
    run.learner->watch(std::move(evaluated));
  start_actors(run, *setup.scenario.schedule);
  // Without this SimGrid only reports a deadlock on stderr, stops the waiting actors, and returns
  // as after a complete run.
  sg::Engine::on_deadlock_cb([&run] {
    if (run.error.empty())
      run.error = "the schedule has a deadlock: " + who_waits(run);
  });
  sg::Engine::get_instance()->run();
  if (!run.error.empty())
    throw std::runtime_error(run.error);
  run.trace.end_s = sg::Engine::get_clock();
  const std::vector<Progress> progress = progress_of(run.trace);
  run.trace.window = run.length.window().value_or(
      run.trace.in_step ? window_after({pace_of(progress, run.trace.round)},
                                       setup.scenario.warmup / run.trace.round)
                        : window_after(progress, setup.scenario.warmup));
  run.trace.cut_short = run.length.cut_short();
  if (run.learner != nullptr)
    run.trace.learned = run.learner->finish(run.trace.end_s, run.wire.bytes);
  run.trace.profiles_s = setup.profiles.shown_s;
  run.trace.alone_per_s = setup.alone_per_s();
  if (setup.compute.again_part > 0) {
    for (const Bucket& bucket : setup.made())
      run.trace.again_in_backward.push_back(setup.compute.again_in_backward(bucket));
    run.trace.again_in_accumulate = setup.compute.again_part;
  }
  run.trace.off_node = parts_off_node(run);
  run.trace.links = link_uses(run, measured_parts(run.trace, MeasuredWindow(run.trace, progress)));
  if (alike)
    alike->spread(run.trace.links);  // a message then stands for several, on other links
  else if (setup.keep_messages)
    sample_links(run.wire.routes, run.trace);
  return std::move(run.trace);
}

}  // namespace syncline

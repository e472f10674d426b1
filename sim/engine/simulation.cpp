#include "sim/engine/simulation.h"

#include <optional>
#include <stdexcept>
#include <utility>

#include "sim/clock/analytic.h"
#include "sim/clock/neighbours.h"
#include "sim/clock/traced.h"
#include "sim/engine/alike_servers.h"
#include "sim/engine/deadlock.h"
#include "sim/engine/engine_worker.h"
#include "sim/engine/link_samples.h"
#include "sim/engine/run.h"
#include "sim/schedule.h"

namespace syncline {
namespace {

void run_worker(Run& run, WorkerState& state, const Schedule& schedule) {
  EngineWorker worker(state);
  schedule.worker(worker);
  state.waits_in = "its end";
  while (state.outstanding > 0)  // answers that the schedule did not wait for
    state.wakeup.wait();
  state.waits_in = {};
  end_answers(state);
  if (!run.aggregators.empty())
    run.aggregators[index(run.setup.traffic.cluster.topology.node_of[index(state.rank)])]
        ->worker_ended(state.rank);
  if (--run.active_workers == 0 && schedule.answer != nullptr)
    for (const auto& worker : run.workers)
      worker->answering.wake();
  for (const auto& server : run.servers)
    server->pushes.add(WorkerEnd{.worker = state.rank});
  run.actor_ended(state.rank);
}

void start_actors(Run& run, const Schedule& schedule) {
  run.active_workers = static_cast<int>(run.workers.size());
  run.active_actors =
      run.active_workers + static_cast<int>(run.servers.size() + run.aggregators.size());
  // Makes all streams, and with them the first plans, before any actor starts: a stack on memory
  // that was touched while plans were made would count in full, not only as far as it is used.
  for (const auto& worker : run.workers)
    worker->stages.make_streams();
  for (const auto& server : run.server_stages)
    server->make_streams();
  for (const auto& worker : run.workers) {
    run.start("worker", worker->rank, [&] { run_worker(run, *worker, schedule); });
    if (schedule.answer != nullptr)
      run.start("answer", worker->rank, [&] {
        EngineWorker answering(*worker, true);
        schedule.answer(answering);
      });
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

}  // namespace

Trace simulate(const Setup& given, std::function<void(const CurvePoint&)> evaluated) {
  if (given.scenario.fidelity == Fidelity::analytic)
    return given.traffic.partners == Schedule::Partners::neighbours ? copies_by_arithmetic(given)
                                                                    : by_arithmetic(given);
  const std::optional<AlikeServers> alike = AlikeServers::of(given);
  const Setup setup = alike ? alike->as_one(given) : given;
  Run run(setup);
  if (run.learner != nullptr)
    run.learner->watch(std::move(evaluated));
  start_actors(run, *setup.scenario.schedule);
  // Without this callback SimGrid only reports a deadlock on stderr, stops the waiting actors, and
  // returns as after a complete run.
  sg::Engine::on_deadlock_cb([&run] {
    if (run.error.empty())
      run.error = "the schedule has a deadlock: " + who_waits(run);
  });
  sg::Engine::get_instance()->run();
  if (!run.error.empty())
    throw std::runtime_error(run.error);
  const double end_s = sg::Engine::get_clock();
  if (run.learner != nullptr)
    run.trace.learned = run.learner->finish(end_s, run.wire.bytes);
  finish_trace(
      setup, setup.made(), run.length, run.wire.routes,
      [&run](const auto& sent) { run.wire.for_each_pair(sent); }, end_s, run.trace);
  if (alike)
    alike->spread(run.trace.links);  // a message then stands for several, on other links
  else if (setup.keep_messages)
    sample_links(run.wire.routes, run.trace);
  return std::move(run.trace);
}

}  // namespace syncline

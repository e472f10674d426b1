#include "sim/engine/deadlock.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "kernels/registry.h"
#include "sim/engine/run.h"

namespace syncline {
namespace {

constexpr std::size_t most_waiting = 4;

// Names of the servers that have not answered the worker's last push.
std::vector<std::string> silent_servers(const WorkerState& worker) {
  std::vector<std::string> names;
  for (std::size_t s = 0; s < worker.cache.size(); ++s)
    if (std::ranges::any_of(worker.cache[s], [&](const CachedPiece& piece) {
          return piece.own <= worker.iteration;
        }))
      names.push_back(worker.run.trace.rank_names[worker.run.workers.size() + s]);
  return names;
}

// Describes what holds up an average of this worker; empty: nothing does.
std::string held_up_average(const WorkerState& worker) {
  for (const auto& stream : worker.stages.streams) {
    const Phase* phase = stream->current;
    if (phase == nullptr)
      continue;
    const std::string what =
        fmt::format("{} of bucket {}", name_of(phase->verb), stream->current_bucket);
    if (stream->released.waits()) {
      const Barrier& barrier = worker.run.barriers.at({stream->stage, phase->group});
      return fmt::format("{} of {} ranks to begin {}", phase->group_size - barrier.arrived,
                         phase->group_size, what);
    }
    std::vector<std::string> peers;
    for (const Transfer& receive : phase->receives)
      peers.push_back(worker.run.trace.rank_names[index(receive.peer)]);
    for (const Transfer& send : phase->sends)
      if (phase->receives.empty())
        peers.push_back(worker.run.trace.rank_names[index(send.peer)]);
    return listed(peers) + " in " + what;
  }
  return {};
}

std::string waits(const WorkerState& worker) {
  const std::vector<std::string> servers = silent_servers(worker);
  const std::string awaited = worker.waits_for >= 0
                                  ? worker.run.trace.rank_names[index(worker.waits_for)]
                              : servers.empty() ? held_up_average(worker)
                                                : listed(servers);
  return fmt::format("{} in iteration {} waits in {}{}",
                     worker.run.trace.rank_names[index(worker.rank)], worker.iteration,
                     worker.waits_in, awaited.empty() ? "" : " for " + awaited);
}

}  // namespace

std::string who_waits(const Run& run) {
  std::vector<std::string> all;
  for (const auto& worker : run.workers)
    if (!worker->waits_in.empty())
      all.push_back(waits(*worker));
  for (const auto& server : run.servers)
    if (server->pushes.wakeup.waits() || server->messages.wakeup.waits())
      all.push_back(run.trace.rank_names[index(server->rank())] + " waits for " +
                    (server->pushes.wakeup.waits() ? "a push" : "a message of a node"));
  for (const auto& node : run.aggregators)
    if (node->events.wakeup.waits())
      all.push_back(run.trace.rank_names[index(node->rank())] +
                    " waits for its workers or servers");
  if (all.size() > most_waiting) {
    const std::string others = fmt::format("and {} more", all.size() - most_waiting);
    all.resize(most_waiting);
    all.push_back(others);
  }
  return fmt::format("{}", fmt::join(all, "; "));
}

}  // namespace syncline

// Synchronous SGD with backup workers (Chen et al. 2016): servers make an update as soon as they
// have all gradients but those of the last `backup-workers` workers, and drop those gradients when
// they arrive. So a straggler delays no other worker, and no gradient is stale. Each server decides
// for each of its buckets, as TensorFlow's accumulators of each variable do. A worker that came too
// late gets the newest parameters at once; the others wait for the update.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sim/schedule.h"
#include "sim/server.h"
#include "sim/worker.h"

namespace syncline {
namespace {

int backups(const Settings& settings) {
  return static_cast<int>(settings.number("backup-workers"));
}

std::string refusal(const Settings& settings, int workers) {
  if (workers == 1 || backups(settings) < workers)
    return "";
  return "backup-workers = " + std::to_string(backups(settings)) +
         ": an update waits for at least one of " + std::to_string(workers) +
         " workers; allowed is less than that";
}

// Workers that have ended are no longer awaited: at the end of a run fewer workers may remain.
void update_when_complete(Server& server, std::vector<Push>& sum) {
  const int awaited = std::max(server.workers() - backups(server.settings()), 1);
  if (sum.empty() || static_cast<int>(sum.size()) < std::min(awaited, server.working()))
    return;
  const std::vector<Push> update = std::exchange(sum, {});
  server.apply_mean(update);
  for (const Push& push : update)
    server.reply(push);
}

void server(Server& server) {
  std::map<std::pair<int, int>, std::vector<Push>> sums;  // by bucket and piece
  while (const auto message = server.next_push_or_end()) {
    const Push* push = std::get_if<Push>(&*message);
    if (push == nullptr) {
      for (auto& [piece, sum] : sums)
        update_when_complete(server, sum);
    } else if (server.is_late(*push)) {
      server.drop(*push);
      server.reply(*push);
    } else {
      std::vector<Push>& sum = sums[{push->bucket, push->piece}];
      server.add(*push);
      sum.push_back(*push);
      update_when_complete(server, sum);
    }
  }
}

const Registered<Schedule> entry{{
    .name = "backup",
    .sentence = "synchronous with backup workers: the gradients that come last are dropped",
    .help = {.more = "Servers wait for all gradients but `backup-workers`. Dropped gradients do "
                     "not count as throughput. learning-rate-schedule counts updates.",
             .paper = "Chen et al. 2016, arXiv 1604.00981"},
    .options = {whole_number("backup-workers",
                             "gradients that no update waits for; less than the number of workers",
                             "1", 0, 1e6)},
    .waiting = [](const Settings&) { return Schedule::Waiting::for_nobody; },
    .refusal = refusal,
    .worker = downpour_worker,
    .server = server,
}};

}  // namespace
}  // namespace syncline

// n-softsync (Zhang, Gupta, Lian, Liu, IJCAI 2016, arXiv 1511.05950): a server makes an update each
// time it has collected c = floor(workers / n) gradients of any workers, with their mean, each
// divided by its staleness (`staleness-rate = inverse`). No worker waits for an update: it gets the
// current parameters, perhaps without its own last gradient. With n = workers this is asp. Each
// piece of a bucket counts by itself. Gradients that are left at the end make an update.
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/schedule.h"
#include "sim/server.h"
#include "sim/worker.h"

namespace syncline {
namespace {

std::string refusal(const Settings& settings, int workers) {
  const auto splitting = static_cast<int>(settings.number("splitting"));
  return workers == 1 || splitting <= workers
             ? ""
             : "splitting = " + std::to_string(splitting) +
                   ": allowed is up to the number of workers, " + std::to_string(workers);
}

void server(Server& server) {
  const double together = std::floor(server.workers() / server.settings().number("splitting"));
  std::map<std::pair<int, int>, std::vector<Push>> sums;  // by bucket and piece
  while (const auto push = server.next_push()) {
    if (together <= 1) {
      server.apply(*push);
    } else {
      std::vector<Push>& sum = sums[{push->bucket, push->piece}];
      server.add(*push);
      sum.push_back(*push);
      if (static_cast<double>(sum.size()) == together)
        server.apply(std::exchange(sum, {}));
    }
    server.reply(*push);
  }
  for (const auto& [piece, sum] : sums)
    if (!sum.empty())
      server.apply(sum);
}

const Registered<Schedule> entry{{
    .name = "n-softsync",
    .sentence = "asynchronous: an update takes the next workers / `splitting` gradients, whoever's",
    .help = {.more = "Workers do not wait for updates. Gradients are about `splitting` updates "
                     "stale, and divided by their staleness. With n = workers it is asp.",
             .paper = "Zhang, Gupta, Lian, Liu, IJCAI 2016, arXiv 1511.05950"},
    .options = {whole_number("splitting", "n: updates per gradient of each worker", "1", 1, 1e6),
                pull_option()},
    .defaults = {{"staleness-rate", "inverse"}},
    .refusal = refusal,
    .most_lead = unbounded,
    .worker = downpour_worker,
    .server = server,
}};

}  // namespace
}  // namespace syncline

// Stale synchronous parallel (Ho et al., NIPS 2013), by its four rules:
//   1. the fastest and the slowest worker are at most s clocks apart, or the fast one waits;
//   2. an update that a worker makes in clock c has timestamp c;
//   3. a read in clock c sees all updates with timestamp c - s - 1 or less, and may see newer ones;
//   4. a worker sees its own updates.
// A worker reads once per clock, after its push. A push of clock c is answered when every worker's
// push of clock c - s has been applied, because the next iteration reads in clock c + 1, so a pull
// is always on its way. A worker with a cache, as in the paper, does not wait for the answer if its
// cache is fresh enough; it adds its own updates itself, which is rule 4. With `cache = off` it
// waits for every answer, and rule 4 holds because the server applies a push before it answers. In
// both cases s = 0 is BSP through the server; with a large s and no cache the schedule is ASP.
#include <vector>

#include "sim/schedule.h"
#include "sim/server.h"
#include "sim/worker.h"

namespace syncline {
namespace {

void worker(Worker& worker) {
  const double staleness = worker.settings().number("staleness");
  const bool cache = worker.settings().word("cache") == "on";
  while (worker.next_iteration()) {
    push_gradient(worker);
    if (cache)
      worker.refresh_cache(staleness);
    else
      worker.pull();
    worker.step();
  }
}

void server(Server& server) {
  const double staleness = server.settings().number("staleness");
  std::vector<Push> held;
  while (const auto push = server.next_push()) {
    server.apply(*push);
    held.push_back(*push);
    reply_within(server, held, staleness);
  }
}

Schedule::Waiting waiting(const Settings& settings) {
  return settings.number("staleness") == 0 ? Schedule::Waiting::for_all
                                           : Schedule::Waiting::for_some;
}

const Registered<Schedule> entry{{
    .name = "ssp",
    .sentence = "stale synchronous: asynchronous, but no worker gets more than `staleness` ahead",
    .help = {.more = "With staleness = 0 it is bsp over servers, with staleness = none and cache = "
                     "off asp. With its cache a worker waits only for answers that it needs, so "
                     "ssp may be faster than asp, with staler gradients.",
             .paper = "Ho et al., NIPS 2013"},
    .options = {staleness_option("iterations the fastest worker may be ahead of the slowest", "3"),
                choice("cache", "on: workers wait only for parameters that are too old", "on",
                       {"on", "off"}),
                pull_option()},
    .waiting = waiting,
    .gradients_ahead =
        [](const Settings& settings) {
          return settings.word("cache") == "on" ? settings.number("staleness") + 1 : 0;
        },
    .most_lead = [](const Settings& settings) { return settings.number("staleness"); },
    .worker = worker,
    .server = server,
}};

}  // namespace
}  // namespace syncline

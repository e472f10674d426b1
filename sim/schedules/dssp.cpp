// Dynamic stale synchronous parallel (Zhao et al., ICDCS 2019, arXiv 1908.11848): ssp without a
// cache, with a bound between `staleness` and `staleness` + `range`. When the fastest worker would
// have to wait, the server looks at the times of the last two pushes of this worker and of the
// slowest worker, and assumes that both continue in the same way. It then lets the fastest worker
// continue for the number of iterations that brings it nearest to a push of the slowest one, but
// never beyond the bound. This is the paper's rule as summaries describe it: README.md in this
// folder lists what they leave open. With `range = 0` the schedule is ssp with `cache = off`. If
// gradients are in pieces, or on several servers, each piece and server decides separately, and a
// worker waits for all of them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "sim/schedule.h"
#include "sim/server.h"
#include "sim/worker.h"

namespace syncline {
namespace {

constexpr const char* range_name = "range";

void worker(Worker& worker) {
  while (worker.next_iteration()) {
    worker.forward();
    for (const Bucket& bucket : worker.buckets()) {
      worker.backward(bucket);
      worker.push(bucket);
    }
    worker.pull();
    worker.step();
  }
}

// Pushes of one worker for one piece of the gradients.
struct Pushes {
  int count = 0;
  double last_s = 0, interval_s = 0;
  int extra = 0;  // iterations beyond `staleness` that the worker may still begin

  void add(double now_s) {
    interval_s = count++ > 0 ? now_s - last_s : 0;
    last_s = now_s;
  }
};

// Number of iterations that this worker may begin although it is too far ahead, if it is the
// fastest.
int extra_iterations(const std::vector<Pushes>& all, const Pushes& own, double most_lead,
                     int range) {
  const auto [slowest, fastest] = std::ranges::minmax(all, {}, &Pushes::count);
  if (own.count < fastest.count || slowest.count < 2)
    return 0;
  int best = 0;
  double nearest_s = std::numeric_limits<double>::infinity();
  for (int extra = 0; own.count - 1 + extra <= slowest.count + most_lead; ++extra)
    for (int next = 1; next <= range + 1; ++next) {
      const double apart_s = std::abs(slowest.last_s + next * slowest.interval_s - own.last_s -
                                      extra * own.interval_s);
      if (apart_s < nearest_s)
        best = extra;
      nearest_s = std::min(nearest_s, apart_s);
    }
  return best;
}

double most_lead(const Settings& settings) {
  return settings.number("staleness") + settings.number(range_name);
}

void server(Server& server) {
  const double staleness = server.settings().number("staleness");
  const auto range = static_cast<int>(server.settings().number(range_name));
  std::map<std::pair<int, int>, std::vector<Pushes>> pieces;  // by bucket and piece, then by worker
  std::vector<Push> held;
  while (const auto push = server.next_push()) {
    server.apply(*push);
    std::vector<Pushes>& all = pieces[{push->bucket, push->piece}];
    all.resize(index(server.workers()));
    Pushes& own = all[index(push->worker)];
    own.add(push->came_s);
    if (own.extra == 0 && own.count > server.slowest(*push) + staleness)
      own.extra = extra_iterations(all, own, most_lead(server.settings()), range);
    if (own.extra > 0) {
      --own.extra;
      server.reply(*push);
    } else {
      held.push_back(*push);
    }
    std::erase_if(held, [&](const Push& waiting) {
      if (waiting.iteration + 1 > server.slowest(waiting) + staleness)
        return false;
      server.reply(waiting);
      return true;
    });
  }
}

Schedule::Waiting waiting(const Settings& settings) {
  return most_lead(settings) == 0 ? Schedule::Waiting::for_all : Schedule::Waiting::for_some;
}

const Registered<Schedule> entry{{
    .name = "dssp",
    .sentence = "stale synchronous with a bound that follows the workers' speeds",
    .help = {.more = "Before the fastest worker waits, the server predicts, from the times of "
                     "pushes, whether it would wait less after up to `range` more iterations.",
             .paper = "Zhao et al., ICDCS 2019, arXiv 1908.11848"},
    .options = {whole_number("staleness",
                             "iterations the fastest worker may always be ahead of the slowest",
                             "3", 0, 1e9),
                whole_number(range_name, "further iterations that it may be ahead", "12", 0, 1000),
                pull_option()},
    .exchange = "ps",
    .any_exchange = false,
    .waiting = waiting,
    .pulls_compressed = pulls_compressed,
    .most_lead = most_lead,
    .worker = worker,
    .server = server,
}};

}  // namespace
}  // namespace syncline

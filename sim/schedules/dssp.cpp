// Dynamic stale synchronous parallel (Zhao et al., ICDCS 2019, arXiv 1908.11848): ssp without a
// cache, with a bound between `staleness` and `staleness` + `range`. When the fastest worker would
// have to wait, the server looks at the times of the last two pushes of this worker and of the
// slowest worker, and assumes that both continue in the same way. It then lets the fastest worker
// continue for the number of iterations that brings it nearest to a push of the slowest one, but
// never beyond the bound. This follows summaries of the paper (see README.md). With `range = 0` the
// schedule is ssp with `cache = off`. Each server decides for each piece of the gradients
// separately, and a worker waits for all of them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/schedule.h"
#include "sim/server.h"
#include "sim/worker.h"

namespace syncline {
namespace {

double most_lead(const Settings& settings) {
  return settings.number("staleness") + settings.number("range");
}

// Number of iterations that a worker too far ahead may begin: none unless it is the fastest.
int extra_iterations(const std::vector<AppliedPushes>& all, const AppliedPushes& own,
                     const Settings& settings) {
  const auto [slowest, fastest] = std::ranges::minmax(all, {}, &AppliedPushes::count);
  if (own.count < fastest.count || slowest.count < 2)
    return 0;
  const double range = settings.number("range"), most = slowest.count + most_lead(settings);
  std::pair nearest{std::numeric_limits<double>::infinity(), 0};  // seconds apart, and extra
  for (int extra = 0; own.count - 1 + extra <= most; ++extra)
    for (int next = 1; next <= range + 1; ++next) {
      const double apart_s = slowest.last_s + next * slowest.interval_s - own.last_s;
      nearest = std::min(nearest, {std::abs(apart_s - extra * own.interval_s), extra});
    }
  return nearest.second;
}

void server(Server& server) {
  const double staleness = server.settings().number("staleness");
  // Iterations beyond `staleness` that a worker may still begin, by bucket, piece and worker.
  std::map<std::tuple<int, int, int>, int> extra;
  std::vector<Push> held;
  while (const auto push = server.next_push()) {
    server.apply(*push);
    const std::vector<AppliedPushes>& all = server.applied(*push);
    int& own = extra[{push->bucket, push->piece, push->worker}];
    if (own <= 0 && push->iteration + 1 > server.slowest(*push) + staleness)
      own = extra_iterations(all, all[index(push->worker)], server.settings());
    if (own-- > 0)
      server.reply(*push);
    else
      held.push_back(*push);
    reply_within(server, held, staleness);
  }
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
                whole_number("range", "further iterations that it may be ahead", "12", 0, 1000),
                pull_option()},
    .most_lead = most_lead,
    .worker = downpour_worker,
    .server = server,
}};

}  // namespace
}  // namespace syncline

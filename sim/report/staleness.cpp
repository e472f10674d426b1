#include "sim/report/staleness.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace syncline {
namespace {

// A part of the parameters: a bucket on a server.
struct Part {
  // By version.
  std::vector<std::int64_t> gradients{0};  // applied so far
  std::vector<std::int64_t> clock{0};      // iterations of the worker with fewest
  std::vector<std::int64_t> applied;       // of each worker
  std::int64_t slowest = 0;                // the least of these,
  std::size_t with_slowest = 0;            // and how many workers have it

  explicit Part(std::size_t workers) : applied(workers), with_slowest(workers) {}

  void apply(std::size_t version, std::size_t worker) {
    if (version >= gradients.size()) {
      gradients.resize(version + 1, gradients.back());
      clock.resize(version + 1, clock.back());
    }
    ++gradients[version];
    if (applied[worker]++ == slowest && --with_slowest == 0) {
      slowest = *std::ranges::min_element(applied);
      with_slowest = static_cast<std::size_t>(std::ranges::count(applied, slowest));
    }
    clock[version] = slowest;
  }
};

}  // namespace

Staleness staleness_of(const Trace& trace, double from_s, double to_s) {
  Staleness staleness;
  std::map<std::pair<int, int>, Part> parts;
  std::int64_t count = 0;
  for (const Row& row : trace.rows) {  // rows of a part are in the order of its versions
    if (row.verb != "apply")
      continue;
    const auto version = static_cast<std::size_t>(row.version);
    const auto read = static_cast<std::size_t>(row.read_version);
    Part& part = parts.try_emplace({row.rank, row.bucket}, static_cast<std::size_t>(trace.workers))
                     .first->second;
    part.apply(version, static_cast<std::size_t>(row.worker));
    if (row.end_s <= from_s || row.end_s > to_s)
      continue;
    const std::int64_t gradients = part.gradients[version - 1] - part.gradients[read];
    ++staleness.histogram[gradients];
    staleness.gradients_max = std::max(staleness.gradients_max, gradients);
    staleness.gradients_mean += static_cast<double>(gradients);
    staleness.updates_mean += static_cast<double>(version - 1 - read);
    staleness.iterations_mean += static_cast<double>(row.iteration - part.clock[read]);
    ++count;
  }
  if (count > 0)
    for (double* mean :
         {&staleness.gradients_mean, &staleness.updates_mean, &staleness.iterations_mean})
      *mean /= static_cast<double>(count);
  return staleness;
}

}  // namespace syncline

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "sim/report/report.h"

namespace syncline {
namespace {

// A part of the parameters: a bucket on a server.
struct Part {
  // The first two are by version.
  std::vector<std::int64_t> gradients{0};  // gradients applied so far
  std::vector<std::int64_t> clock{0};      // iterations of the worker with the fewest
  std::vector<std::int64_t> applied;       // iterations, by worker
  std::int64_t slowest = 0;                // the least of `applied`
  std::size_t with_slowest = 0;            // how many workers have it

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

void add_staleness(const Trace& trace, Figures& figures) {
  std::map<std::pair<int, int>, Part> parts;
  std::int64_t count = 0;
  const bool drops =
      std::ranges::any_of(trace.rows, [](const Row& row) { return row.verb == Verb::drop; });
  for (const Row& row : trace.rows) {  // rows of a part are in the order of its versions
    if (row.verb != Verb::apply)
      continue;
    const auto version = static_cast<std::size_t>(row.version);
    const auto read = static_cast<std::size_t>(row.read_version);
    Part& part = parts.try_emplace({row.rank, row.bucket}, static_cast<std::size_t>(trace.workers))
                     .first->second;
    part.apply(version, static_cast<std::size_t>(row.worker));
    if (row.end_s <= trace.window.from_s || row.end_s > trace.window.to_s)
      continue;
    const std::int64_t gradients = part.gradients[version - 1] - part.gradients[read];
    ++figures.staleness_histogram[gradients];
    figures.staleness_max = std::max(figures.staleness_max, gradients);
    figures.staleness_mean += static_cast<double>(gradients);
    figures.staleness_updates_mean += static_cast<double>(version - 1 - read);
    // A schedule that drops late gradients does not wait for late workers: one of its updates is
    // one iteration of all workers.
    figures.staleness_iterations_mean +=
        drops ? static_cast<double>(version - 1 - read)
              : static_cast<double>(row.iteration - part.clock[read] * trace.round);
    ++count;
  }
  if (count > 0)
    for (double* mean : {&figures.staleness_mean, &figures.staleness_updates_mean,
                         &figures.staleness_iterations_mean})
      *mean /= static_cast<double>(count);
}

}  // namespace syncline

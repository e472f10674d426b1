#include "sim/sweep/exports.h"

#include <cstdint>
#include <fmt/format.h>
#include <ostream>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/io/text.h"
#include "kernels/io/whole_file.h"
#include "sim/options/resolve.h"
#include "sim/report/timeline.h"
#include "sim/schedule.h"
#include "sim/traces/traces.h"

namespace syncline {
namespace {

std::string of_rank(const std::string& chakra, int rank) {
  return chakra + "." + std::to_string(rank) + ".json";
}

// Whether one iteration, the unit of these formats, has the messages of all others, and computes
// before it communicates.
bool has_iterations(const Schedule& schedule) {
  return schedule.aggregator == nullptr && schedule.round == nullptr &&
         schedule.sharding == nullptr && schedule.neighbours == nullptr;
}

bool averages(const Schedule& schedule) {
  return schedule.partners() == Schedule::Partners::each_other && has_iterations(schedule) &&
         !schedule.sparsifiers_only;
}

// Bytes averaged, by bucket; a group of tensors (sim/engine/cycles.h) counts with its last tensor.
std::vector<std::uint64_t> averaged_bytes(const Setup& setup, const Trace& trace) {
  const int iteration = iteration_in_the_middle(trace);
  std::set<int> averaged;
  for (const Row& row : trace.rows)
    if (row.stream == Stream::communication && row.iteration == iteration)
      averaged.insert(row.bucket);
  std::vector<std::uint64_t> bytes;
  std::uint64_t waiting = 0;
  for (const Bucket& bucket : setup.made()) {
    waiting += setup.traffic.bytes_of(bucket);
    const bool goes = setup.tensors.empty() || averaged.contains(bucket.index);
    bytes.push_back(goes ? std::exchange(waiting, 0) : 0);
  }
  return bytes;
}

}  // namespace

Exports exports_of(const CommandLine& line, const Sweep& sweep, OutputPaths& places) {
  const auto value = [&](const char* flag) { return line.flag(flag).value_or(""); };
  Exports exports{.trace = value("trace"), .goal = value("goal"), .chakra = value("chakra")};
  if (exports.trace == "on")
    exports.trace.clear();
  for (const auto& [flag, path] :
       {std::pair("trace", exports.trace), {"goal", exports.goal}, {"chakra", exports.chakra}}) {
    if (line.flag(flag) == "")
      throw std::invalid_argument(fmt::format("--{} is empty: allowed is a path", flag));
    if (!path.empty() && sweep.cells.size() != 1)
      throw std::invalid_argument(
          fmt::format("--{}={} is for one cell, and this is a sweep of {}: allowed is one value "
                      "for each option",
                      flag, brief_path(path), sweep.cells.size()));
  }
  if (!exports.any())
    return exports;
  const Scenario& scenario = sweep.cells.front();
  if (!exports.trace.empty() && !exports.trace.ends_with(".json"))
    throw std::invalid_argument("--trace=" + brief_path(exports.trace) +
                                ": allowed are --trace=FILE.json, and --trace with --out DIR");
  if (!exports.goal.empty() && !has_iterations(*scenario.schedule))
    throw std::invalid_argument(
        "--goal: in " + scenario.schedule->name +
        (scenario.schedule->sharding != nullptr
             ? " computation waits for parameters, which is not written: allowed are "
             : " an iteration does not have the messages of all others: allowed are ") +
        those_that<Schedule>(has_iterations));
  if (!exports.chakra.empty() && !averages(*scenario.schedule))
    throw std::invalid_argument("--chakra: " + scenario.schedule->name +
                                (scenario.schedule->sharding != nullptr
                                     ? " gathers parameters, which is not written: allowed are "
                                     : " does not average gradients in every iteration: allowed "
                                       "are ") +
                                those_that<Schedule>(averages));
  if (!exports.chakra.empty() && scenario.compresses())
    throw std::invalid_argument(
        "--chakra: it has no word for compressed gradients: allowed is compressor = none, or "
        "--goal");
  if (!exports.trace.empty())
    places.add("--trace", exports.trace, perfetto_begin);
  if (!exports.goal.empty())
    places.add("--goal", exports.goal, goal_begin);
  return exports;
}

void check_exports(const Exports& exports, const Setup& setup) {
  if (!exports.goal.empty() && setup.scenario.fidelity == Fidelity::analytic)
    throw std::runtime_error(
        "--goal: fidelity = analytic has no messages; allowed are flow, step and auto");
  OutputPaths places = exports.places;
  const auto workers = static_cast<int>(setup.traffic.cluster.workers.size());
  for (int rank = 0; rank < workers && !exports.chakra.empty(); ++rank)
    places.add("--chakra", of_rank(exports.chakra, rank), chakra_begin);
}

void write_exports(const Exports& exports, const Setup& setup, const Trace& trace) {
  if (!exports.trace.empty())
    write_atomically(exports.trace, [&](std::ostream& out) { write_perfetto(trace, out); });
  if (!exports.goal.empty())
    write_atomically(exports.goal,
                     [&](std::ostream& out) { write_goal(trace, setup.scenario.overlap, out); });
  if (exports.chakra.empty())
    return;
  const std::vector<std::uint64_t> bytes = averaged_bytes(setup, trace);
  for (int rank = 0; rank < trace.workers; ++rank)
    write_atomically(of_rank(exports.chakra, rank), [&](std::ostream& out) {
      write_chakra(trace, rank, bytes, setup.scenario.overlap, out);
    });
}

}  // namespace syncline

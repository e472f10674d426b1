#include "sim/sweep/limits.h"

#include <fmt/format.h>
#include <fstream>
#include <stdexcept>
#include <unistd.h>

#include "kernels/io/text.h"
#include "sim/catalogue/data.h"
#include "sim/sweep/own_memory.h"

namespace syncline {
namespace {

// Memory that the process has already, as RLIMIT_DATA counts it.
double data_bytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  for (int field = 0; field < 6; ++field)
    file >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// In the unit that a person would use.
std::string duration(double seconds) {
  return seconds < 120    ? fmt::format("{:.2g} s", seconds)
         : seconds < 7200 ? fmt::format("{:.3g} min", seconds / 60)
                          : fmt::format("{:.3g} h", seconds / 3600);
}

std::string gigabytes(double bytes) {
  return fmt::format("{:.2g} GB", bytes / 1e9);
}

}  // namespace

Limits limits_of(const CommandLine& line) {
  const OwnOption allowed{.minimum = 1, .maximum = 1e18};
  return {.memory_bytes = line.number("limit-memory", allowed).value_or(own_memory_bytes() / 2),
          .seconds = line.number("limit-seconds", allowed).value_or(most_seconds_of_a_cell),
          .trace_bytes = line.number("limit-trace", allowed).value_or(1e9)};
}

void require_room_for_platform(const PlatformFile& platform, const std::string& name,
                               const Limits& limits) {
  if (platform.load_s > limits.seconds)
    throw std::runtime_error(
        fmt::format("platform {}: loading it takes about {}: allowed are {} (--limit-seconds); "
                    "fewer nodes, or fewer hosts of each, take less",
                    brief_path(name), duration(platform.load_s), duration(limits.seconds)));
}

void require_room_for_data(const Scenario& scenario, const Limits& limits, int at_once) {
  if (!scenario.learns())
    return;
  const Learning& learning = scenario.learning;
  const DataNeed need = need_of_data(learning.data, learning.data_folder, learning.generated);
  if (need.memory_bytes * at_once > limits.memory_bytes || need.seconds > limits.seconds)
    throw std::runtime_error(
        fmt::format("data = {} takes about {} and {}{}: allowed are {} (--limit-seconds) and {} "
                    "(--limit-memory); fewer samples or features take less",
                    brief_path(learning.data), duration(need.seconds), gigabytes(need.memory_bytes),
                    at_once > 1 ? fmt::format(" for each of {} at a time", at_once) : "",
                    duration(limits.seconds), gigabytes(limits.memory_bytes)));
}

void require_room_for_trace(double bytes, const Limits& limits) {
  if (bytes > limits.trace_bytes)
    throw std::runtime_error(fmt::format(
        "--trace would write about {}: allowed are {} (--limit-trace); what makes it smaller: "
        "fewer iterations, larger buckets and partitions, fidelity = flow, fewer workers",
        gigabytes(bytes), gigabytes(limits.trace_bytes)));
}

void require_room(const Estimate& simulation, const Limits& limits, int at_once) {
  const Need& need = simulation.least;
  const bool too_long = need.seconds > limits.seconds;
  const bool too_large = need.memory_bytes * at_once > limits.memory_bytes;
  if (!too_long && !too_large)
    return;
  std::string text = fmt::format(
      "simulating this takes {:.3g} messages in {:.0f} iterations, about {} and {}", need.flows,
      need.iterations * simulation.runs, duration(need.seconds), gigabytes(need.memory_bytes));
  if (at_once > 1)
    text += fmt::format(" for each of {} at a time", at_once);
  text += ": allowed are ";
  if (too_long)
    text += duration(limits.seconds) + " (--limit-seconds)" + (too_large ? " and " : "");
  if (too_large)
    text += gigabytes(limits.memory_bytes) + " (--limit-memory)";
  text +=
      "; what makes it smaller: fidelity = flow, larger buckets, partitions and chunks, fewer "
      "iterations, fewer workers";
  if (simulation.runs > 1)
    text += fmt::format(", repeats = 1 (here {})", simulation.runs);
  throw std::runtime_error(text + (at_once > 1 && too_large ? ", and a smaller --jobs" : ""));
}

MemoryLimit::MemoryLimit(double more_bytes) {
  getrlimit(RLIMIT_DATA, &before_);
  rlimit limit = before_;
  const double bytes = data_bytes() + more_bytes;
  if (bytes < static_cast<double>(limit.rlim_cur))
    limit.rlim_cur = static_cast<rlim_t>(bytes);
  setrlimit(RLIMIT_DATA, &limit);
}

MemoryLimit::~MemoryLimit() {
  setrlimit(RLIMIT_DATA, &before_);
}

}  // namespace syncline

#include "sim/sweep/limits.h"

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <sys/resource.h>
#include <unistd.h>

#include "sim/options/resolve.h"

namespace syncline {
namespace {

double half_of_the_machines_memory() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)) /
         2;
}

// What the process has, as RLIMIT_DATA counts it.
double data_bytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  for (int field = 0; field < 6; ++field)
    file >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double flag_or(const CommandLine& line, const char* name, double fallback) {
  const auto given = line.flags.find(name);
  if (given == line.flags.end())
    return fallback;
  return checked_number({.name = std::string("--") + name, .minimum = 1, .maximum = 1e18},
                        given->second);
}

// In the unit that a person would say.
std::string duration(double seconds) {
  char text[64];
  if (seconds < 120)
    std::snprintf(text, sizeof text, "%.2g s", seconds);
  else if (seconds < 7200)
    std::snprintf(text, sizeof text, "%.3g min", seconds / 60);
  else
    std::snprintf(text, sizeof text, "%.3g h", seconds / 3600);
  return text;
}

std::string gigabytes(double bytes) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2g GB", bytes / 1e9);
  return text;
}

}  // namespace

std::vector<Flag> limit_flags() {
  return {{"limit-memory", true}, {"limit-seconds", true}};
}

Limits limits_of(const CommandLine& line) {
  return {.memory_bytes = flag_or(line, "limit-memory", half_of_the_machines_memory()),
          .seconds = flag_or(line, "limit-seconds", 3600)};
}

void require_room(const Estimate& simulation, const Limits& limits, int at_once) {
  const Need& need = simulation.least;
  const double memory_bytes = need.memory_bytes * at_once;
  const bool too_long = need.seconds > limits.seconds;
  const bool too_large = memory_bytes > limits.memory_bytes;
  if (!too_long && !too_large)
    return;
  char flows[64];
  std::snprintf(flows, sizeof flows, "%.3g messages in %.0f iterations", need.flows,
                need.iterations * simulation.runs);
  std::string text = std::string("simulating this takes ") + flows + ", about " +
                     duration(need.seconds) + " and " + gigabytes(need.memory_bytes) +
                     (at_once > 1 ? " for each of " + std::to_string(at_once) + " at a time" : "") +
                     ": allowed are ";
  if (too_long)
    text += duration(limits.seconds) + " (--limit-seconds)";
  if (too_large)
    text +=
        std::string(too_long ? " and " : "") + gigabytes(limits.memory_bytes) + " (--limit-memory)";
  text +=
      "; smaller are fidelity = flow, larger buckets, partitions and chunks, fewer iterations, "
      "fewer workers";
  if (simulation.runs > 1)
    text += ", repeats = 1 (here " + std::to_string(simulation.runs) + ")";
  throw std::runtime_error(text + (at_once > 1 && too_large ? ", and a smaller --jobs" : ""));
}

MemoryLimit::MemoryLimit(double more_bytes) {
  rlimit limit{};
  getrlimit(RLIMIT_DATA, &limit);
  before_ = limit.rlim_cur;
  const double bytes = data_bytes() + more_bytes;
  if (bytes < static_cast<double>(before_))
    limit.rlim_cur = static_cast<rlim_t>(bytes);
  setrlimit(RLIMIT_DATA, &limit);
}

MemoryLimit::~MemoryLimit() {
  rlimit limit{};
  getrlimit(RLIMIT_DATA, &limit);
  limit.rlim_cur = before_;
  setrlimit(RLIMIT_DATA, &limit);
}

}  // namespace syncline

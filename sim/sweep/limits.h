// Limits to the resources that simulations take: --limit-memory, --limit-seconds and --limit-trace.
#pragma once

#include <string>
#include <sys/resource.h>

#include "sim/engine/estimate.h"
#include "sim/options/user_input.h"
#include "sim/platform/platform_file.h"
#include "sim/scenario.h"

namespace syncline {

struct Limits {
  double memory_bytes = 0;
  double seconds = 0;
  double trace_bytes = 0;  // of a cell's trace
};

// By default half of the memory that this process may have (sim/sweep/own_memory.h), for all cells
// that run at a time; an hour for each cell; and 1 GB for each trace.
Limits limits_of(const CommandLine& line);

// Throw std::runtime_error, which says what makes the simulation smaller, if even the least that a
// simulation takes exceeds the limits where `at_once` of them run. The first two are called before
// the platform and the data are loaded.
void require_room_for_platform(const PlatformFile& platform, const std::string& name,
                               const Limits& limits);
void require_room_for_data(const Scenario& scenario, const Limits& limits, int at_once);
void require_room(const Estimate& simulation, const Limits& limits, int at_once);
// For a trace of `bytes`, estimated or about to be written.
void require_room_for_trace(double bytes, const Limits& limits);

// While it exists, this process may allocate `more_bytes` beside what it has; more throws
// std::bad_alloc.
class MemoryLimit {
 public:
  explicit MemoryLimit(double more_bytes);
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  rlimit before_{};
};

}  // namespace syncline

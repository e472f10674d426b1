// Limits to what simulations take of this machine: --limit-memory and --limit-seconds.
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
  double trace_bytes = 0;  // of a cell's files
};

// By default half of the memory that this process may have (sim/sweep/own_memory.h), for all that
// run at a time; an hour for each; and 1 GB for each trace.
Limits limits_of(const CommandLine& line);

// Throw std::runtime_error that says what makes it smaller, if even the least that a simulation
// takes is more than allowed where `at_once` of them run. The first two ask before the platform and
// before data are loaded.
void require_room_for_platform(const PlatformFile& platform, const std::string& name,
                               const Limits& limits);
void require_room_for_data(const Scenario& scenario, const Limits& limits, int at_once);
void require_room(const Estimate& simulation, const Limits& limits, int at_once);
// A trace of so many bytes, by estimate or by what there is to write.
void require_room_for_trace(double bytes, const Limits& limits);

// Until it goes, this process gets so much memory beside what it has: beyond is std::bad_alloc.
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

// Limits to what simulations take of this machine: --limit-memory and --limit-seconds.
#pragma once

#include <sys/resource.h>

#include "sim/engine/estimate.h"
#include "sim/options/user_input.h"

namespace syncline {

struct Limits {
  double memory_bytes = 0;
  double seconds = 0;
};

// By default half of the machine's memory, for all that run at a time, and an hour for each.
Limits limits_of(const CommandLine& line);

// Throws std::runtime_error that says what makes it smaller, if even the least that a simulation
// takes is more than allowed where `at_once` of them run.
void require_room(const Estimate& simulation, const Limits& limits, int at_once);

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

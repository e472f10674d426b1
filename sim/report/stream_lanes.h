// Lanes in which things that overlap in time are drawn side by side.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "sim/trace.h"

namespace syncline {

class Lanes {
 public:
  // Returns the first lane that is free at `start_s`, and occupies it until `end_s`. Starts must
  // not decrease from call to call.
  std::size_t place(double start_s, double end_s) {
    auto lane = std::ranges::find_if(ends_s_, [&](double free_s) { return free_s <= start_s; });
    if (lane == ends_s_.end())
      lane = ends_s_.insert(lane, end_s);
    *lane = end_s;
    return static_cast<std::size_t>(lane - ends_s_.begin());
  }

 private:
  std::vector<double> ends_s_;
};

// "communication"; further stages, or lanes, are "communication-2", "communication-3", ...
inline std::string name_of(Stream stream, int stage = 0) {
  static constexpr const char* names[] = {"compute", "communication", "messages", "compression"};
  const std::string name = names[static_cast<std::size_t>(stream)];
  return stage == 0 ? name : name + "-" + std::to_string(stage + 1);
}

}  // namespace syncline

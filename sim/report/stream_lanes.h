// Things that overlap are drawn in lanes, so that they do not.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "sim/trace.h"

namespace syncline {

class Lanes {
 public:
  // The first lane in which nothing goes on at `start_s`; what is in it then goes on until `end_s`.
  // Starts do not go back from call to call.
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

// "communication", and of its next stages, or lanes, "communication-2" and so on.
inline std::string name_of(Stream stream, int stage = 0) {
  static constexpr const char* names[] = {"compute", "communication", "messages", "compression"};
  const std::string name = names[static_cast<std::size_t>(stream)];
  return stage == 0 ? name : name + "-" + std::to_string(stage + 1);
}

}  // namespace syncline

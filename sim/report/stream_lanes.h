// Things that overlap are drawn in lanes, so that they do not.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/trace.h"

namespace syncline {

class Lanes {
 public:
  // The first lane in which nothing goes on at `start_s`; what is in it then goes on until `end_s`.
  // Starts do not go back from call to call.
  std::size_t place(double start_s, double end_s) {
    for (std::size_t lane = 0; lane < ends_s_.size(); ++lane)
      if (ends_s_[lane] <= start_s) {
        ends_s_[lane] = end_s;
        return lane;
      }
    ends_s_.push_back(end_s);
    return ends_s_.size() - 1;
  }

 private:
  std::vector<double> ends_s_;
};

// "communication", and of its next stages, or lanes, "communication-2" and so on.
std::string name_of(Stream stream, int stage = 0);

}  // namespace syncline

// Stretches of time, and their intersections.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/trace.h"

namespace syncline {

struct Interval {
  double start_s;
  double end_s;
  double part = 1;  // the part of it that counts
};

// The union of the intervals, in order, without overlap.
std::vector<Interval> merged(std::vector<Interval> intervals);

// The stretches of `of` in which one of `others` was active. `of` must be in order; `others` must
// be in order and disjoint.
std::vector<Interval> common(const std::vector<Interval>& of, const std::vector<Interval>& others);

// Seconds of common(of, others) that count.
double overlap_s(const std::vector<Interval>& of, const std::vector<Interval>& others);

// When the bytes of a row move: between two of its messages, a row of a communication stream may
// wait for others.
class MovingTimes {
 public:
  explicit MovingTimes(const Trace& trace);

  // Whether bytes of the row move at all: some rows wait, or work on what has arrived.
  static bool has_any(const Row& row);
  std::vector<Interval> of(const Row& row) const;
  void append(const Row& row, std::vector<Interval>& moving) const;

 private:
  std::map<std::pair<std::int32_t, std::uint8_t>, std::vector<Interval>> pauses_;
};

}  // namespace syncline

// Stretches of time, and what they have in common.
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
  double part = 1;  // of it that counts
};

// In order, without overlap.
std::vector<Interval> merged(std::vector<Interval> intervals);

// The parts of `of`, which are in order, in which one of `others` was active, which are disjoint,
// too.
std::vector<Interval> common(const std::vector<Interval>& of, const std::vector<Interval>& others);

// Seconds that count of `of` in which one of `others` was active: of what they have in common.
double overlap_s(const std::vector<Interval>& of, const std::vector<Interval>& others);

// When the bytes of a row move: a row of a communication stream goes on while others are waited for
// between two of its messages.
class MovingTimes {
 public:
  explicit MovingTimes(const Trace& trace);

  // Whether its bytes do at all: some rows wait, or work on what has come.
  static bool has_any(const Row& row);
  std::vector<Interval> of(const Row& row) const;
  void append(const Row& row, std::vector<Interval>& moving) const;

 private:
  std::map<std::pair<std::int32_t, std::uint8_t>, std::vector<Interval>> pauses_;
};

}  // namespace syncline

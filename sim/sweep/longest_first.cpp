#include "sim/sweep/longest_first.h"

namespace syncline {

LongestFirst::LongestFirst(std::size_t cells, int at_once)
    : cells_(cells), by_length_(at_once > 1 && cells > static_cast<std::size_t>(at_once)) {}

std::optional<LongestFirst::Turn> LongestFirst::next() {
  const bool all_begun = begun_ == cells_;
  if (!waiting_.empty() && (looking_ > 0 || all_begun)) {
    const std::size_t cell = waiting_.top().second;
    waiting_.pop();
    return Turn{.cell = cell, .may_wait = false};
  }
  if (all_begun)
    return {};
  ++begun_;
  if (!by_length_)
    return Turn{.cell = begun_ - 1, .may_wait = false};
  ++looking_;
  return Turn{.cell = cells_ - begun_, .may_wait = true};
}

void LongestFirst::looked() {
  --looking_;
}

void LongestFirst::found_long(std::size_t cell, double seconds) {
  waiting_.emplace(seconds, cell);
}

}  // namespace syncline

#include "sim/report/intervals.h"

#include <algorithm>

namespace syncline {

std::vector<Interval> merged(std::vector<Interval> intervals) {
  std::ranges::sort(intervals, {}, &Interval::start_s);
  std::size_t count = 0;  // of the disjoint ones
  for (const Interval interval : intervals)
    if (count > 0 && interval.start_s <= intervals[count - 1].end_s)
      intervals[count - 1].end_s = std::max(intervals[count - 1].end_s, interval.end_s);
    else
      intervals[count++] = interval;
  intervals.resize(count);
  return intervals;
}

std::vector<Interval> common(const std::vector<Interval>& of, const std::vector<Interval>& others) {
  std::vector<Interval> all;
  std::size_t first = 0;
  for (const Interval& one : of) {  // in the order of time
    while (first < others.size() && others[first].end_s <= one.start_s)
      ++first;
    for (std::size_t i = first; i < others.size() && others[i].start_s < one.end_s; ++i)
      all.push_back({std::max(one.start_s, others[i].start_s), std::min(one.end_s, others[i].end_s),
                     one.part});
  }
  return all;
}

double overlap_s(const std::vector<Interval>& of, const std::vector<Interval>& others) {
  double sum = 0;
  for (const Interval& one : common(of, others))
    sum += one.part * (one.end_s - one.start_s);
  return sum;
}

MovingTimes::MovingTimes(const Trace& trace) {
  for (const Pause& pause : trace.pauses)
    pauses_[{pause.rank, pause.stage}].push_back({pause.start_s, pause.end_s});
}

bool MovingTimes::has_any(const Row& row) {
  if (row.stream == Stream::compute || row.verb == Verb::wait || is_compression(row.verb))
    return false;
  return row.stream == Stream::messages || (row.verb != Verb::sum && row.verb != Verb::handle);
}

std::vector<Interval> MovingTimes::of(const Row& row) const {
  std::vector<Interval> moving;
  append(row, moving);
  return moving;
}

void MovingTimes::append(const Row& row, std::vector<Interval>& moving) const {
  if (!has_any(row))
    return;
  const auto found =
      row.stream == Stream::communication ? pauses_.find({row.rank, row.stage}) : pauses_.end();
  if (found == pauses_.end()) {
    moving.push_back({row.start_s, row.end_s});
    return;
  }
  const std::size_t before = moving.size();
  double from_s = row.start_s;
  const auto& pauses = found->second;  // in the order of time, disjoint
  for (auto pause = std::ranges::upper_bound(pauses, row.start_s, {}, &Interval::end_s);
       pause != pauses.end() && pause->start_s < row.end_s; ++pause) {
    if (pause->start_s > from_s)
      moving.push_back({from_s, pause->start_s});
    from_s = pause->end_s;
  }
  if (row.end_s > from_s || moving.size() == before)
    moving.push_back({from_s, std::max(row.end_s, from_s)});
}

}  // namespace syncline

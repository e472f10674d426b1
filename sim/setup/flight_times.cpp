#include "sim/setup/flight_times.h"

#include <algorithm>

namespace syncline {
namespace {

auto first_that_ends_after(const std::vector<std::pair<double, double>>& times, double at_s) {
  return std::ranges::lower_bound(times, at_s, {}, &std::pair<double, double>::second);
}

}  // namespace

void FlightTimes::add(double begins_s, double ends_s) {
  if (slowdown_ == 0 || ends_s <= begins_s)
    return;
  const auto first = first_that_ends_after(times_, begins_s);
  auto last = first;
  for (; last != times_.end() && last->first <= ends_s; ++last) {
    begins_s = std::min(begins_s, last->first);
    ends_s = std::max(ends_s, last->second);
  }
  times_.insert(times_.erase(first, last), {begins_s, ends_s});
}

double FlightTimes::computed_s(double from_s, double seconds) const {
  for (auto time = first_that_ends_after(times_, from_s); time != times_.end(); ++time) {
    const auto& [begins_s, ends_s] = *time;
    if (from_s + seconds <= begins_s)
      break;
    seconds -= std::max(0.0, begins_s - from_s);
    from_s = std::max(from_s, begins_s);
    const double beside_s = seconds * (1 + slowdown_);
    if (from_s + beside_s <= ends_s)
      return from_s + beside_s;
    seconds -= (ends_s - from_s) / (1 + slowdown_);
    from_s = ends_s;
  }
  return from_s + seconds;
}

}  // namespace syncline

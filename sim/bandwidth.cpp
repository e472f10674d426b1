#include "sim/bandwidth.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace syncline {
namespace {

// Seconds from this change to the next one; after the last change, until the first one comes again.
double lasts_s(const Bandwidth& bandwidth, std::size_t change) {
  const auto& changes = bandwidth.changes;
  if (change + 1 < changes.size())
    return changes[change + 1].at_s - changes[change].at_s;
  return bandwidth.period_s > 0 ? changes.front().at_s + bandwidth.period_s - changes.back().at_s
                                : std::numeric_limits<double>::infinity();
}

double bytes_of_a_period(const Bandwidth& bandwidth) {
  double bytes = 0;
  for (std::size_t i = 0; i < bandwidth.changes.size(); ++i)
    bytes += lasts_s(bandwidth, i) * bandwidth.changes[i].Bps;
  return bytes;
}

}  // namespace

double Bandwidth::most_Bps() const {
  double most = changes.empty() || changes.front().at_s > 0 ? first_Bps : 0;
  for (const Change& change : changes)
    most = std::max(most, change.Bps);
  return most;
}

double Bandwidth::mean_Bps() const {
  if (is_constant())
    return first_Bps;
  return period_s > 0 ? bytes_of_a_period(*this) / period_s : changes.back().Bps;
}

std::pair<std::size_t, double> Bandwidth::last_change(double s) const {
  const double passed_s = s - changes.front().at_s;
  const double periods = period_s > 0 ? std::floor(passed_s / period_s) : 0;
  const double begun_s = periods * period_s;
  const auto next = std::ranges::upper_bound(
      changes, s - begun_s, {}, &Change::at_s);  // the first change comes at or before s
  const auto last =
      static_cast<std::size_t>(std::max<std::ptrdiff_t>(next - changes.begin(), 1)) - 1;
  return {last, begun_s + changes[last].at_s};
}

double Bandwidth::Bps_at(double s) const {
  if (is_constant() || s < changes.front().at_s)
    return first_Bps;
  return changes[last_change(s).first].Bps;
}

double Bandwidth::next_change_s(double after_s) const {
  if (is_constant())
    return std::numeric_limits<double>::infinity();
  if (after_s < changes.front().at_s)
    return changes.front().at_s;
  const auto [last, came_s] = last_change(after_s);
  return came_s + lasts_s(*this, last);
}

Bandwidth Bandwidth::times(double factor) const {
  Bandwidth other = *this;
  other.first_Bps *= factor;
  for (Change& change : other.changes)
    change.Bps *= factor;
  return other;
}

double Bandwidth::carried_after_first(double seconds) const {
  double bytes = 0;
  if (period_s > 0) {
    const double periods = std::floor(seconds / period_s);
    bytes = periods * bytes_of_a_period(*this);
    seconds -= periods * period_s;
  }
  for (std::size_t i = 0; i < changes.size() && seconds > 0; ++i) {
    const double lasting_s = std::min(seconds, lasts_s(*this, i));
    bytes += lasting_s * changes[i].Bps;
    seconds -= lasting_s;
  }
  return bytes;
}

double Bandwidth::seconds_after_first(double bytes) const {
  double seconds = 0;
  if (period_s > 0) {
    const double of_a_period = bytes_of_a_period(*this);
    const double periods = std::floor(bytes / of_a_period);
    seconds = periods * period_s;
    bytes -= periods * of_a_period;
  }
  for (std::size_t i = 0; i < changes.size() && bytes > 0; ++i) {
    const double lasting_s = std::min(bytes / changes[i].Bps, lasts_s(*this, i));
    bytes -= lasting_s * changes[i].Bps;
    seconds += lasting_s;
  }
  return seconds;
}

double Bandwidth::carried_bytes(double until_s) const {
  if (is_constant() || until_s <= changes.front().at_s)
    return first_Bps * until_s;
  const double first_s = changes.front().at_s;
  return first_Bps * first_s + carried_after_first(until_s - first_s);
}

double Bandwidth::seconds_for(double bytes) const {
  if (is_constant() || bytes <= first_Bps * changes.front().at_s)
    return bytes / first_Bps;
  const double first_s = changes.front().at_s;
  return first_s + seconds_after_first(bytes - first_Bps * first_s);
}

double Bandwidth::part_used(double bytes, double from_s, double to_s) const {
  if (is_constant())
    return bytes / first_Bps / (to_s - from_s);
  return bytes / (carried_bytes(to_s) - carried_bytes(from_s));
}

}  // namespace syncline

// The bandwidth of a link, which may change during a run.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace syncline {

struct Bandwidth {
  struct Change {
    double at_s = 0;
    double Bps = 0;
  };
  double first_Bps = 0;              // until the first change
  std::vector<Change> changes = {};  // in the order of their times
  double period_s = 0;               // after which the changes repeat; 0: the last one stays

  Bandwidth(double Bps = 0) : first_Bps(Bps) {}

  bool is_constant() const { return changes.empty(); }
  double most_Bps() const;
  double mean_Bps() const;        // in the long run
  double Bps_at(double s) const;  // from this moment on
  // When it changes next; infinite: never. By rounding this may be `after_s` itself.
  double next_change_s(double after_s) const;
  Bandwidth times(double factor) const;
  // Bytes that the link can carry from the start of the run until `until_s`.
  double carried_bytes(double until_s) const;
  // Seconds from the start of the run until the link can have carried `bytes`.
  double seconds_for(double bytes) const;
  // `bytes` as a part of what the link can carry in that time.
  double part_used(double bytes, double from_s, double to_s) const;

 private:
  // As carried_bytes() and seconds_for(), but from the first change on.
  double carried_after_first(double seconds) const;
  double seconds_after_first(double bytes) const;
  // The number of the last change up to this moment, which is not before the first, and its time.
  std::pair<std::size_t, double> last_change(double s) const;
};

}  // namespace syncline

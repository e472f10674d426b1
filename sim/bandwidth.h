// A link carries so much, which may change while a run goes on.
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
  double period_s = 0;               // after which all of them come again; 0: the last one stays

  Bandwidth(double Bps = 0) : first_Bps(Bps) {}

  bool is_constant() const { return changes.empty(); }
  double most_Bps() const;
  double mean_Bps() const;                     // in the long run
  double Bps_at(double s) const;               // from then on
  double next_change_s(double after_s) const;  // infinite: it stays as it is
  // All of it by this factor.
  Bandwidth times(double factor) const;
  // It can carry so many bytes from the start of the run until then.
  double carried_bytes(double until_s) const;
  // Seconds from the start of the run until it can have carried so many bytes.
  double seconds_for(double bytes) const;
  // The part that these bytes are of what it can carry in that time.
  double part_used(double bytes, double from_s, double to_s) const;

 private:
  // From the first change on, in so many seconds of the changes' own time.
  double carried_after_first(double seconds) const;
  double seconds_after_first(double bytes) const;
  // The last change up to then, which is not before the first, and when it came.
  std::pair<std::size_t, double> last_change(double s) const;
};

}  // namespace syncline

// When collectives are in flight beside a worker's computation, in closed forms.
#pragma once

#include <utility>
#include <vector>

namespace syncline {

// Beside them computation takes 1 + slowdown times as long.
class FlightTimes {
 public:
  explicit FlightTimes(double slowdown) : slowdown_(slowdown) {}

  void add(double begins_s, double ends_s);
  // When that ends which begins at `from_s` and takes `seconds` alone. All that begins until then
  // has to be added before.
  double computed_s(double from_s, double seconds) const;

 private:
  double slowdown_;
  std::vector<std::pair<double, double>> times_;  // apart from each other, in their order
};

}  // namespace syncline

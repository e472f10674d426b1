#include "sim/study/validation.h"

#include <algorithm>
#include <cmath>

namespace syncline {

double kendall_tau(const std::vector<double>& a, const std::vector<double>& b) {
  double concordant = 0;
  double ties_a = 0;
  double ties_b = 0;
  double pairs = 0;
  const auto order = [](double x, double y) {
    constexpr double rounding = 1e-9;  // differs between machines and versions of SimGrid
    return std::abs(x - y) <= rounding * std::abs(x) ? 0 : x > y ? 1 : -1;
  };
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const int order_a = order(a[i], a[j]);
      const int order_b = order(b[i], b[j]);
      concordant += order_a * order_b;
      ties_a += order_a == 0 ? 1 : 0;
      ties_b += order_b == 0 ? 1 : 0;
      ++pairs;
    }
  const double scale = std::sqrt((pairs - ties_a) * (pairs - ties_b));
  return scale > 0 ? concordant / scale : 0;
}

namespace {

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

}  // namespace

Agreement agreement(const std::vector<ValidationRow>& rows) {
  std::vector<double> errors;
  std::vector<double> of_perfect;
  std::vector<double> measured;
  std::vector<double> simulated;
  for (const ValidationRow& row : rows) {
    if (row.fit)
      continue;
    errors.push_back(std::abs(row.error()));
    of_perfect.push_back(std::abs(row.perfect / row.measured - 1));
    measured.push_back(row.measured);
    simulated.push_back(row.simulated);
  }
  if (errors.empty())
    return {};
  return {.rows = static_cast<int>(errors.size()),
          .median_error = median(errors),
          .worst_error = std::ranges::max(errors),
          .perfect_median_error = median(of_perfect),
          .tau = kendall_tau(measured, simulated)};
}

}  // namespace syncline

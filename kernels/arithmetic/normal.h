// The quantile of the normal distribution: Wichura's PPND16 (algorithm AS 241, Applied Statistics
// 37, 1988), relative error below 1e-15. The standard library has none. Its argument depends only
// on settings, so the host evaluates it once and every device gets the same number.
#pragma once

#include <cmath>
#include <limits>

#include "kernels/elementary.h"

namespace syncline {

// (numerator[0] + numerator[1] x + ...) / (denominator[0] + ...), by Horner's rule.
template <std::size_t Terms>
double rational(const double (&numerator)[Terms], const double (&denominator)[Terms], double x) {
  double above = 0, below = 0;
  for (std::size_t i = Terms; i-- > 0;) {
    above = above * x + numerator[i];
    below = below * x + denominator[i];
  }
  return above / below;
}

inline double normal_quantile(double p) {
  constexpr double a[] = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                          1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                          3.3430575583588128105e4, 2.5090809287301226727e3};
  constexpr double b[] = {1.0000000000000000000e0, 4.2313330701600911252e1, 6.8718700749205790830e2,
                          5.3941960214247511077e3, 2.1213794301586595867e4, 3.9307895800092710610e4,
                          2.8729085735721942674e4, 5.2264952788528545610e3};
  constexpr double c[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                          5.76949722146069140550e0,  3.64784832476320460504e0,
                          1.27045825245236838258e0,  2.41780725177450611770e-1,
                          2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr double d[] = {1.00000000000000000000e0,  2.05319162663775882187e0,
                          1.67638483018380384940e0,  6.89767334985100004550e-1,
                          1.48103976427480074590e-1, 1.51986665636164571966e-2,
                          5.47593808499534494600e-4, 1.05075007164441684324e-9};
  constexpr double e[] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                          1.78482653991729133580e0,  2.96560571828504891230e-1,
                          2.65321895265761230930e-2, 1.24266094738807843860e-3,
                          2.71155556874348757815e-5, 2.01033439929228813265e-7};
  constexpr double f[] = {1.00000000000000000000e0,  5.99832206555887937690e-1,
                          1.36929880922735805310e-1, 1.48753612908506148525e-2,
                          7.86869131145613259100e-4, 1.84631831751005468180e-5,
                          1.42151175831644588870e-7, 2.04426310338993978564e-15};
  if (p <= 0 || p >= 1)
    return p <= 0 ? -std::numeric_limits<double>::infinity()
                  : std::numeric_limits<double>::infinity();
  const double q = p - 0.5;
  if (std::fabs(q) <= 0.425)
    return q * rational(a, b, 0.180625 - q * q);
  const double r = std::sqrt(-steady_log(q < 0 ? p : 1 - p));
  const double tail = r <= 5 ? rational(c, d, r - 1.6) : rational(e, f, r - 5);
  return q < 0 ? -tail : tail;
}

}  // namespace syncline

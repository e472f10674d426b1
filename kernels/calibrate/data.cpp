// The gradients that kernels are measured with. Made from Philox, so that they are the same
// everywhere.
#include <cmath>

#include "kernels/arithmetic/normal.h"
#include "kernels/calibrate/calibrate.h"
#include "kernels/cpu/tiles.h"
#include "kernels/philox.h"

namespace syncline {
namespace {

double bell(std::uint64_t seed, std::size_t i, std::uint32_t which = 0) {
  return normal_quantile(uniform({seed, which, 77}, i) + 0x1p-25);
}

float value_of(const std::string& distribution, std::uint64_t seed, std::size_t i, std::size_t n) {
  const double z = bell(seed, i);
  if (distribution == "laplace") {
    const double size = -std::log(1 - uniform({seed, 9, 77}, i));
    return static_cast<float>(z < 0 ? -size : size);
  }
  if (distribution == "student") {  // three degrees of freedom
    const double a = bell(seed, i, 1), b = bell(seed, i, 2), c = bell(seed, i, 3);
    return static_cast<float>(z / std::sqrt((a * a + b * b + c * c) / 3));
  }
  if (distribution == "layered")  // twelve layers, each half the scale of the one before
    return static_cast<float>(std::ldexp(z, -static_cast<int>(i * 12 / n)));
  if (distribution == "adversarial")  // nearly all magnitudes equal: no threshold separates them
    return (z < 0 ? -1.0f : 1.0f) * (i % 1000 == 0 ? 2.0f : 1.0f);
  return static_cast<float>(z);
}

}  // namespace

const std::vector<std::string>& gradient_names() {
  static const std::vector<std::string> names = {"gauss",   "laplace", "student",
                                                 "layered", "steady",  "adversarial"};
  return names;
}

Values gradient_of(const std::string& distribution, std::size_t elements, std::uint64_t seed) {
  Values values(elements);
  for_each_tile(elements, [&](std::size_t, std::size_t begin, std::size_t count) {
    for (std::size_t i = begin; i < begin + count; ++i)
      values[i] = value_of(distribution, seed, i, elements);
  });
  return values;
}

}  // namespace syncline

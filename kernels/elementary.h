// exp, log, log Gamma, cos and sin in plain arithmetic, with the same bits on every device and with
// every C library. Libraries differ in the last place, which would move a threshold across an
// element. Errors are a few units in the last place, which does not matter here.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace syncline {

inline constexpr double log_of_two = 0x1.62e42fefa39efp-1;

constexpr double steady_exp(double x) {
  if (!(x > -700 && x < 700))
    return x >= 700 ? std::numeric_limits<double>::infinity() : x <= -700 ? 0.0 : x;
  const double scaled = x / log_of_two + (x < 0 ? -0.5 : 0.5);
  const std::int64_t power = static_cast<std::int64_t>(scaled);
  // log 2 in two parts, so that the product of `power` and the first part is exact.
  const double rest = x - static_cast<double>(power) * 0x1.62e42feep-1 -
                      static_cast<double>(power) * 0x1.a39ef35793c76p-33;
  double sum = 1;
  for (int term = 14; term > 0; --term)
    sum = 1 + sum * rest / term;
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(power + 1023) << 52);
}

// Takes positive normal numbers, infinity and NaN.
constexpr double steady_log(double x) {
  if (!(x <= 0x1.fffffffffffffp1023))
    return x;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  std::int64_t power = static_cast<std::int64_t>(bits >> 52) - 1023;
  double mantissa = std::bit_cast<double>((bits & 0xfffffffffffffu) | 0x3ff0000000000000u);
  if (mantissa > 1.4142135623730951) {
    mantissa = mantissa / 2;
    ++power;
  }
  const double f = (mantissa - 1) / (mantissa + 1), square = f * f;
  double sum = 0;
  for (int term = 21; term > 0; term -= 2)
    sum = sum * square + 1.0 / term;
  return 2 * f * sum + static_cast<double>(power) * log_of_two;
}

constexpr double steady_sqrt(double x) {
  return x > 0    ? steady_exp(steady_log(x) / 2)
         : x == 0 ? 0.0
                  : std::numeric_limits<double>::quiet_NaN();
}

// Takes positive numbers: Stirling's series from 8 on, the recurrence below.
constexpr double steady_log_gamma(double x) {
  double product = 1;
  while (x < 8) {
    product *= x;
    x += 1;
  }
  const double square = x * x;
  const double series = (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / x;
  return (x - 0.5) * steady_log(x) - x + 0.9189385332046727 + series - steady_log(product);
}

struct CosineSine {
  double cosine = 0, sine = 0;
};

// Takes an angle in turns, 0 to 1: Taylor's series about half a turn.
constexpr CosineSine steady_turn(double turns) {
  const double angle = (turns - 0.5) * 2 * 3.141592653589793, square = angle * angle;
  CosineSine sum{1, 1};
  for (int term = 28; term > 0; term -= 2) {
    sum.cosine = 1 - sum.cosine * square * (1.0 / ((term - 1) * term));
    sum.sine = 1 - sum.sine * square * (1.0 / (term * (term + 1)));
  }
  return {-sum.cosine, -angle * sum.sine};
}

}  // namespace syncline

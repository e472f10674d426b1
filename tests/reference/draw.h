// Random numbers from a seed.
#pragma once

#include <cstdint>
#include <vector>

namespace syncline::reference {

// The same numbers with every compiler: splitmix64 (Steele, Lea, Flood 2014).
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}

  double between(double least, double most) {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return least + (most - least) * static_cast<double>(z >> 11) / 9007199254740992.0;
  }
  template <class Value>
  Value one_of(std::vector<Value> values) {
    return values[static_cast<std::size_t>(between(0, static_cast<double>(values.size())))];
  }
  bool sometimes() { return between(0, 1) < 0.5; }
  double card_Bps() { return one_of<double>({1.25e8, 1.25e9, 3.1e9, 1.25e10}); }

 private:
  std::uint64_t state_;
};

}  // namespace syncline::reference

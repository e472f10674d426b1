// Small random platforms with unequal parts, drawn from a seed.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace syncline {

// Draws that are the same with every standard library.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : engine_(seed) {}
  int below(int n) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(n)); }
  bool one_in(int n) { return below(n) == 0; }
  template <class Value>
  Value of(const std::vector<Value>& values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
  }

 private:
  std::mt19937_64 engine_;
};

struct AwkwardPlatform {
  std::string path;
  int workers = 0;
  bool changes = false;  // a link or a host has a profile
};

// Groups of workers, which may be nodes, each worker on its own link; links of groups are shared,
// duplex or FATPIPE. With `changing`, there may be profiles of bandwidth and speed, and hosts of
// different speeds.
AwkwardPlatform awkward_platform(Draws& draws, bool changing);

}  // namespace syncline

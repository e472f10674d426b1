// Platforms and options of the laws about workers that send each other parameters.
#pragma once

#include <cstdint>
#include <string>

#include "tests/laws/simulated.h"

namespace syncline::law41 {

inline constexpr double nic_Bps = 1e9;
inline constexpr double bus_Bps = 1e10;
inline constexpr double route_s = 2e-5;  // latency of two cards
inline constexpr double solo_s = 0.1;

inline Options exact(const Star& star, std::uint64_t parameters, const Options& more = {}) {
  Options options{{"platform", star_platform(star)},
                  {"model", model_of({parameters / 2, parameters / 4, parameters / 4})},
                  {"schedule", "gossip"},
                  {"bucket-bytes", "0"},
                  {"warmup", "2"}};
  for (const auto& [name, value] : more)
    options[name] = value;
  return options;
}

}  // namespace syncline::law41

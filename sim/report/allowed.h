// Which numbers a result may have: whoever reads one prints them, and must not print nonsense.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>

namespace syncline {

// A null is a number that is not finite, or is not there.
struct AllowedNumbers {
  double least = 0;
  double most = 1e18;  // so that each can be printed as a count
  bool null = false;

  constexpr AllowedNumbers or_null() const { return {least, most, true}; }
  bool has(const nlohmann::ordered_json& value) const {
    if (value.is_null())
      return null;
    return value.is_number() && value.get<double>() >= least && value.get<double>() <= most;
  }
};

inline constexpr AllowedNumbers any_count{};
inline constexpr AllowedNumbers any_share{.most = 1};
inline constexpr AllowedNumbers any_amount{.most = std::numeric_limits<double>::max()};
inline constexpr AllowedNumbers any_loss{.least = std::numeric_limits<double>::lowest(),
                                         .most = std::numeric_limits<double>::max(),
                                         .null = true};

}  // namespace syncline

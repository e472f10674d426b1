// The colours of what is drawn in files and on the page: Okabe and Ito's, which colour-blind
// readers tell apart.
#pragma once

#include <string>
#include <vector>

#include "sim/study/charts.h"

namespace syncline {

inline constexpr const char* ink = "#1b1c1f";
inline constexpr const char* grey = "#6b6f76";
inline constexpr const char* pale = "#e3e4e6";
inline constexpr const char* bound_colour = "#a4a8af";

// One per schedule; below zero: of a bound.
std::string colour_of(int index);

// What fills the tiles of a winner. Its hue is the winner's colour; its lightness is a step of its
// own, so that winners are told apart without any hue.
struct Tint {
  std::string fill;
  std::string ink;       // of text on it: at least 4.5 : 1
  bool hatched = false;  // winners after the fifth
  std::string key;       // "A": for tiles that have no room for the name
};
std::vector<Tint> tints_of(const std::vector<Series>& choices);

// A tie is no winner's.
inline constexpr const char* tie_fill = "#ededee";
inline constexpr const char* tie_line = "#767b84";

}  // namespace syncline

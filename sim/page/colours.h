// The colours of figures and of the page: Okabe and Ito's, which colour-blind readers can tell
// apart.
#pragma once

#include <string>
#include <vector>

#include "sim/study/charts.h"

namespace syncline {

inline constexpr const char* ink = "#1b1c1f";
inline constexpr const char* grey = "#6b6f76";
inline constexpr const char* pale = "#e3e4e6";
inline constexpr const char* bound_colour = "#a4a8af";

// One colour per schedule; below zero: the colour of a bound.
std::string colour_of(int index);

// The fill of a winner's tiles. The hue is the winner's colour; the lightness is a step of its own,
// so that winners can be told apart without hue.
struct Tint {
  std::string fill;
  std::string ink;       // of text on the fill; contrast at least 4.5 : 1
  bool hatched = false;  // for winners after the fifth
  std::string key;       // "A": for tiles without room for the name
};
std::vector<Tint> tints_of(const std::vector<Series>& choices);

// A tie belongs to no winner.
inline constexpr const char* tie_fill = "#ededee";
inline constexpr const char* tie_line = "#767b84";

}  // namespace syncline

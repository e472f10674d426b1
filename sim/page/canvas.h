// The canvas of SVG files: lines, boxes and texts, and rulers that map values to positions.
#pragma once

#include <string>
#include <vector>

#include "sim/study/charts.h"

namespace syncline {

inline constexpr double canvas_width = 640;

struct Canvas {
  double height = 0;
  std::string body = {};

  void line(double x1, double y1, double x2, double y2, const std::string& colour, double thick = 1,
            const std::string& dash = "");
  void box(double x, double y, double w, double h, const std::string& fill,
           const std::string& more = "");
  void text(double x, double y, const std::string& words, const char* anchor = "start",
            const std::string& colour = "#1b1c1f", const std::string& more = "");
  // The whole file, with the title, and a caption below.
  std::string whole(const std::string& title, const std::string& subject);
};

// Maps a value between `least` and `most` to a position between `from` and `to`.
struct Ruler {
  double least = 0, most = 1;
  Scale scale = Scale::linear;
  double from = 0, to = 1;

  double at(double value) const;
};

// 1, 2 and 5 of each decade; whole steps on a linear axis, and where the former are too few.
std::vector<double> ticks_of(double least, double most, Scale scale);
std::string tick_text(double value, const std::string& unit);

// The attribute of a dash; empty if there is none.
std::string dashed(const std::string& dash);
std::string shortened(const std::string& text, std::size_t most);
// An estimate: all characters count the same.
double width_of(const std::string& text);

}  // namespace syncline

// What SVG files are drawn on: lines, boxes and texts, and rulers that say where a value lies.
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
  // The file: with its title, and a caption below.
  std::string whole(const std::string& title, const std::string& subject);
};

// A ruler says where a value lies between two.
struct Ruler {
  double least = 0, most = 1;
  Scale scale = Scale::linear;
  double from = 0, to = 1;

  double at(double value) const;
};

// 1, 2 and 5 of a decade; on a linear axis, and where these are too few, whole steps.
std::vector<double> ticks_of(double least, double most, Scale scale);
std::string tick_text(double value, const std::string& unit);

// An attribute; empty of no dash.
std::string dashed(const std::string& dash);
std::string shortened(const std::string& text, std::size_t most);
// Characters have about the same width.
double width_of(const std::string& text);

}  // namespace syncline

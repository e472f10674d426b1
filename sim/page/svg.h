// Charts as SVG files for a paper: black on white, in Okabe and Ito's colours, with no font or
// script from elsewhere.
#pragma once

#include <string>

#include "sim/page/drawn_timeline.h"
#include "sim/study/charts.h"

namespace syncline {

// The beginning of every such file, an XML declaration and a mark.
extern const std::string svg_begin;

// The caption names the subject. A chart must have lines, a stack or bars.
std::string svg_of(const Chart& chart, const std::string& subject);
std::string svg_of(const Map& map, const std::string& subject);
std::string svg_of(const DrawnTimeline& timeline, const std::string& subject);

}  // namespace syncline

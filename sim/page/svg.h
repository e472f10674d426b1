// Charts as SVG files for a paper: black on white, Okabe and Ito's colours, no font or script from
// elsewhere.
#pragma once

#include <string>

#include "sim/page/drawn_timeline.h"
#include "sim/study/charts.h"

namespace syncline {

// Begins with an XML declaration; every file of ours does so.
extern const std::string svg_begin;

// With a caption that says what it is of. A chart is of lines, a stack or bars.
std::string svg_of(const Chart& chart, const std::string& subject);
std::string svg_of(const Map& map, const std::string& subject);
std::string svg_of(const DrawnTimeline& timeline, const std::string& subject);

}  // namespace syncline

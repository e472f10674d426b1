// Charts as SVG files for a paper: black on white, Okabe and Ito's colours, no font or script from
// elsewhere.
#pragma once

#include <string>

#include "sim/page/drawn_timeline.h"
#include "sim/study/charts.h"

namespace syncline {

// Begins with an XML declaration; every file of ours does so.
extern const std::string svg_begin;

std::string svg_of(const Chart& chart);  // lines, stack or bars
std::string svg_of(const DrawnTimeline& timeline);

}  // namespace syncline

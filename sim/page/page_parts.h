// The parts of the page that are files, in sim/page/browser/: CMake makes them a part of the
// program.
#pragma once

#include <string>

namespace syncline::page_parts {

extern const std::string html;  // the template
extern const std::string css;
extern const std::string js;        // ours
extern const std::string chart_js;  // Chart.js 3.9.1; empty where it was not installed

}  // namespace syncline::page_parts

// The parts of the page that are files in sim/page/browser/: CMake compiles them into the program.
#pragma once

#include <string>

namespace syncline::page_parts {

extern const std::string html;  // the template
extern const std::string css;
extern const std::string js;  // Syncline's own
extern const std::string
    measured_js;                    // the part of it that only a page of something measured needs
extern const std::string chart_js;  // Chart.js 3.9.1; empty if it was not installed

}  // namespace syncline::page_parts

// Checks a platform file before SimGrid reads it: SimGrid crashes on some mistakes and misreads
// others.
#pragma once

#include <string>

#include "sim/platform/platform_file.h"

namespace syncline {

constexpr double slow_Bps = 125'000;  // 1 Mbit/s: lower rates cause a warning

// Both throw std::runtime_error with file and line, element, and what is allowed.
PlatformFile checked_file(const std::string& path);
PlatformFile checked_words(const std::string& words, const std::string& text);  // in XML

}  // namespace syncline

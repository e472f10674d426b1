// The XML of a platform in words.
#pragma once

#include <string>

#include "sim/platform/platform_words.h"

namespace syncline {

// With a comment that says where each number is from. SimGrid reads of it what the words say.
std::string platform_text(const PlatformPlan& plan);

}  // namespace syncline

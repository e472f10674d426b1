// The XML of a platform in words.
#pragma once

#include <string>

#include "sim/platform/platform_words.h"

namespace syncline {

// Has a comment with the source of each number. SimGrid reads from this text what the words say.
std::string platform_text(const PlatformPlan& plan);

}  // namespace syncline

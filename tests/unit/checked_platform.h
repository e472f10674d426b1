// A platform that tests expect to be accepted.
#pragma once

#include <stdexcept>
#include <string>

#include "sim/platform/platform_file.h"

namespace syncline {

// Throws std::runtime_error with the refusal if there is one.
inline PlatformFile check_platform(const std::string& path) {
  PlatformFile platform = read_platform(path);
  if (!platform.refusal.empty())
    throw std::runtime_error(platform.refusal);
  return platform;
}

}  // namespace syncline

// Which program tests start.
#pragma once

#include <cstdlib>
#include <string>

namespace syncline {

// The program of this build, or the one that the variable SYNCLINE_PROGRAM names: .ci/run starts
// the sanitized program by tests of the release build.
inline std::string program_path() {
  const char* other = std::getenv("SYNCLINE_PROGRAM");
  return other == nullptr ? SYNCLINE_PROGRAM : other;
}

}  // namespace syncline

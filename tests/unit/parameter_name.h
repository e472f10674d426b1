// Names of tests that run once for each of several names.
#pragma once

#include <algorithm>
#include <cctype>
#include <gtest/gtest.h>
#include <string>

namespace syncline {

// The parameter, with `_` for characters that are not letters or digits.
inline std::string name_of_parameter(const testing::TestParamInfo<std::string>& about) {
  std::string name = about.param;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

}  // namespace syncline

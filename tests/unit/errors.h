// Checks of error messages and other texts.
#pragma once

#include <exception>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace syncline {

// The message of the exception that `act` throws; without an exception the test fails.
template <class Act>
std::string error_of(Act act) {
  try {
    act();
  } catch (const std::exception& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

inline void expect_mentions(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words)
    EXPECT_PRED_FORMAT2(testing::IsSubstring, word, text);
}

}  // namespace syncline

// What most tests here say: what an error's message is, and what a text must mention.
#pragma once

#include <exception>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace syncline {

// The message of what `act` throws; a failure of the test when it throws nothing.
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

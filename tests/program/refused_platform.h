// The program refuses a platform file.
#pragma once

#include <chrono>
#include <gtest/gtest.h>

#include "tests/program/program.h"
#include "tests/unit/errors.h"
#include "tests/unit/platform_texts.h"

namespace syncline {

inline Ended run_platform(const TemporaryFolder& folder, const std::string& xml) {
  folder.write("p.xml", xml);
  return run_program({"run", "--model", "resnet50", "--throughput", "10", "--iterations", "3",
                      "--warmup", "0", "--platform", "p.xml"},
                     folder.path());
}

inline void expect_refused(const Case& one) {
  const TemporaryFolder folder;
  write_profiles(folder);
  const auto began = std::chrono::steady_clock::now();
  const Ended ended = run_platform(folder, one.xml);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
  expect_mentions(ended.err, {"syncline: ", "p.xml"});
  expect_mentions(ended.err, one.mentions);
  std::string text = ended.err;  // without the folder and its random letters
  for (std::size_t at = 0; (at = text.find(folder.path())) != std::string::npos;)
    text.erase(at, folder.path().size());
  for (const char* inside :
       {"sto", "bad_alloc", "Assertion", "Segmentation", "Impossible", "std::"})
    EXPECT_EQ(text.find(inside), std::string::npos) << ended.err;
}

}  // namespace syncline

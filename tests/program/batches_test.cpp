// batch, accumulation and global-batch: which follows from which, and which do not fit together.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/program/program.h"
#include "tests/unit/errors.h"
#include "tests/unit/folder.h"

namespace syncline {
namespace {

Ended run_with(const std::vector<std::string>& more, const std::string& folder) {
  std::vector<std::string> arguments{
      "run",          "--platform", "pcie-8x2-10gbe", "--model", "resnet50", "--out", "out",
      "--efficiency", "0.5",        "--iterations",   "4"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments, folder);
}

TEST(GlobalBatch, SetsTheBatchOrTheAccumulation) {
  struct {
    std::vector<std::string> given;
    int batch, accumulation;
  } const cases[] = {
      {{"--global-batch", "1024", "--workers", "8"}, 128, 1},
      {{"--global-batch", "1024", "--workers", "8", "--accumulation", "4"}, 32, 4},
      {{"--global-batch", "1024", "--workers", "8", "--batch", "32"}, 32, 4},
      {{"--global-batch", "1024", "--workers", "8", "--batch", "32", "--accumulation", "4"},
       32,
       4}};
  for (const auto& one : cases) {
    const TemporaryFolder folder;
    const Ended ended = run_with(one.given, folder.path());
    ASSERT_EQ(ended.code, 0) << ended.err;
    const auto result = nlohmann::json::parse(text_of(folder.path("out/result.json")));
    EXPECT_EQ(result["scenario"]["batch"], one.batch);
    EXPECT_EQ(result["scenario"]["accumulation"], one.accumulation);
    EXPECT_NEAR(result["figures"]["throughput_samples_per_s"].get<double>() *
                    result["figures"]["iteration_mean_s"].get<double>(),
                1024, 1e-6);
  }
}

// The table shows the batch for each number of workers.
TEST(GlobalBatch, IsSharedByEachNumberOfWorkers) {
  const TemporaryFolder folder;
  const Ended ended = run_with({"--global-batch", "512", "--workers", "2,4,16"}, folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  const std::string rows = text_of(folder.path("out/results.csv"));
  for (const char* batch : {"256", "128", "32"})
    EXPECT_NE(rows.find(batch), std::string::npos) << rows;
  expect_mentions(ended.out, {"16 workers: ", " x 2 workers", "at a scaling efficiency of"});
}

TEST(GlobalBatch, WhatDoesNotFitIsOneLine) {
  const std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> cases{
      {{"--global-batch", "1024"}, {"--global-batch", "how many workers", "workers"}},
      {{"--global-batch", "1000", "--workers", "16"},
       {"global-batch = 1000", "16 workers with accumulation 1", "multiples"}},
      {{"--global-batch", "1000", "--workers", "8", "--batch", "32"},
       {"8 workers with batch 32", "256 samples"}},
      {{"--global-batch", "1024", "--workers", "8", "--batch", "32", "--accumulation", "2"},
       {"accumulation = 2", "need 4"}},
      {{"--global-batch", "0", "--workers", "8"}, {"global-batch = 0", "allowed"}},
      {{"--accumulation", "0"}, {"accumulation = 0", "allowed"}},
      {{"--accumulation", "1.5"}, {"accumulation = 1.5", "allowed"}},
      {{"--accumulation", "1000000", "--batch", "1000000"}, {"1000000000000", "1000000000"}},
      {{"--accumulation", "1000000", "--throughput", "1"}, {"computation", "1e7 s"}},
      {{"--learning-batch", "8"}, {"learning-batch", "learn"}}};
  const TemporaryFolder folder;
  for (const auto& [given, mentions] : cases) {
    const Ended ended = run_with(given, folder.path());
    EXPECT_EQ(ended.code, 2) << ended.out;
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
    expect_mentions(ended.err, mentions);
  }
}

}  // namespace
}  // namespace syncline

// What is written of a single cell for other programs, as a user asks for it.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"
#include "tests/unit/errors.h"
#include "tests/unit/folder.h"

namespace syncline {
namespace {

Ended exported(const TemporaryFolder& folder, const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"run",     "--platform",   "two-hosts",
                                     "--model", "resnet20",     "--throughput",
                                     "100",     "--iterations", "3"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments, folder.path());
}

TEST(Exports, OfASingleCellNeedNoFolder) {
  const TemporaryFolder folder;
  const Ended ended =
      exported(folder, {"--trace=t.json", "--goal", "t.goal", "--chakra", "worker"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(listing_of(folder.path()).size(), 4U);  // Chakra has a file per worker
  EXPECT_FALSE(nlohmann::json::parse(text_of(folder.path("t.json")))["traceEvents"].empty());
  EXPECT_TRUE(text_of(folder.path("t.goal")).starts_with("num_ranks 2\n"));
  EXPECT_EQ(text_of(folder.path("worker.0.json")), text_of(folder.path("worker.1.json")));
}

TEST(Exports, AreTheSameBesideATraceInAFolder) {
  const TemporaryFolder folder;
  EXPECT_EQ(exported(folder, {"--trace", "--out", "out"}).code, 0);
  EXPECT_EQ(exported(folder, {"--trace=t.json"}).code, 0);
  EXPECT_EQ(text_of(folder.path("out/result.trace.json")), text_of(folder.path("t.json")));
}

// One that is kept has no messages any more.
TEST(Exports, AreWrittenWhateverIsResumed) {
  const TemporaryFolder folder;
  EXPECT_EQ(exported(folder, {"--out", "out"}).code, 0);
  EXPECT_EQ(exported(folder, {"--out", "out", "--resume", "--goal", "t.goal"}).code, 0);
  EXPECT_FALSE(text_of(folder.path("t.goal")).empty());
}

TEST(Exports, ThatCannotBeAreRefusedInOneLineAndNothingIsWritten) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{"--batch", "1,2", "--trace=t.json"}, "--trace=t.json is for one cell"},
      {{"--batch", "1,2", "--goal", "t"}, "--goal=t is for one cell"},
      {{"--trace=t.csv"}, "--trace=t.csv: allowed are --trace=FILE.json"},
      {{"--trace"}, "--trace needs --out DIR"},
      {{"--goal", ""}, "--goal is empty"},
      {{"--goal", "none/t"}, "none/t: cannot be written"},
      {{"--chakra", "none/t"}, "none/t.0.json: cannot be written"},
      {{"--schedule", "inhad", "--goal", "t"}, "allowed are asp, bsp, ssp or topk-sgd"},
      {{"--schedule", "local-sgd", "--goal", "t"}, "--goal: in local-sgd an iteration does not"},
      {{"--schedule", "local-sgd", "--chakra", "t"}, "--chakra: local-sgd does not average"},
      {{"--schedule", "asp", "--chakra", "t"}, "--chakra: asp does not average"}};
  for (const auto& [more, message] : wrong) {
    const TemporaryFolder folder;
    const Ended ended = exported(folder, more);
    EXPECT_EQ(ended.code, 2) << message;
    EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
    expect_mentions(ended.err, {"syncline: ", message});
    EXPECT_TRUE(listing_of(folder.path()).empty()) << message;
  }
}

}  // namespace
}  // namespace syncline

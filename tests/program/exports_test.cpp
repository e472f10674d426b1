// Files of a single cell for other programs, requested by a user.
#include <fstream>
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
  EXPECT_EQ(listing_of(folder.path()).size(), 4U);  // Chakra has one file per worker
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

// A kept result no longer has its messages.
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
      {{"--schedule", "inhad", "--goal", "t"},
       "allowed are asp, backup, bsp, dssp, n-softsync, ssp or topk-sgd"},
      {{"--schedule", "local-sgd", "--goal", "t"}, "--goal: in local-sgd an iteration does not"},
      {{"--schedule", "ad-psgd", "--goal", "t"}, "--goal: in ad-psgd an iteration does not"},
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

// Once, a typing error overwrote a user's model, platform or configuration.
TEST(FilesOfFlags, ReplaceNothingThatSynclineHasNotWritten) {
  const TemporaryFolder folder;
  std::ofstream(folder.path("mine")) << "name,value\n";
  std::ofstream(folder.path("worker.1.json")) << "{}\n";
  std::ofstream(folder.path("mine.json")) << "{}\n";
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--goal", "mine"}, {"--trace=mine.json"}, {"--chakra", "worker"}, {"--html", "mine"}}) {
    const Ended ended = exported(folder, more);
    EXPECT_EQ(ended.code, 2) << more.front();
    EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
    expect_mentions(ended.err, {"was not written by syncline", more.front().substr(0, 6)});
    EXPECT_EQ(ended.out, "");
  }
  EXPECT_EQ(text_of(folder.path("mine")), "name,value\n");
  EXPECT_EQ(text_of(folder.path("worker.1.json")), "{}\n");
  EXPECT_EQ(text_of(folder.path("mine.json")), "{}\n");
  EXPECT_EQ(listing_of(folder.path()).size(), 3U);
}

TEST(FilesOfFlags, ReplaceWhatSynclineHasWritten) {
  const TemporaryFolder folder;
  for (int times = 0; times < 2; ++times) {
    const Ended ended = exported(
        folder, {"--trace=t.json", "--goal", "t.goal", "--chakra", "worker", "--html", "t.html"});
    EXPECT_EQ(ended.code, 0) << ended.err;
  }
}

TEST(FilesOfFlags, AreEachAnother) {
  const TemporaryFolder folder;
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--html", "f", "--goal", "f"},
           {"--html", "./f", "--goal", "f"},
           {"--out", "o", "--html", "o/results.csv"},
           {"--trace=w.0.json", "--chakra", "w"},
           {"--goal", "w.1.json", "--chakra", "w"},
           {"--html", "w.1.json", "--chakra", "w"},
           {"--out", "o", "--trace", "--html", "o/result.trace.csv"},
           {"--out", "o", "--goal", "o/result.json"}}) {
    const Ended ended = exported(folder, more);
    EXPECT_EQ(ended.code, 2) << more.back();
    expect_mentions(ended.err, {"allowed is another name"});
    EXPECT_TRUE(listing_of(folder.path()).empty()) << more.back();
  }
}

// Neither of the files needs to exist yet.
TEST(FilesOfFlags, AreEachAnotherBehindLinks) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("g.goal", folder.path("link"));
  std::filesystem::create_symlink("g.goal", folder.path("w.1.json"));
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--goal", "g.goal", "--html", "link"}, {"--goal", "g.goal", "--chakra", "w"}}) {
    const Ended ended = exported(folder, more);
    EXPECT_EQ(ended.code, 2) << more.back();
    expect_mentions(ended.err, {"is what --goal writes: allowed is another name"});
    EXPECT_EQ(listing_of(folder.path()).size(), 2U);
  }
}

// A figure's name is known only when it is drawn.
TEST(FilesOfFlags, AreNoFigures) {
  const TemporaryFolder folder;
  EXPECT_EQ(exported(folder, {"--batch", "1,2", "--out", "o"}).code, 0);
  EXPECT_EQ(run_program({"report", "o", "--svg", "figures"}, folder.path()).code, 0);
  const std::string name = files_of(folder.path("figures")).begin()->first;
  std::filesystem::remove_all(folder.path("figures"));
  std::filesystem::create_directory(folder.path("figures"));
  for (const char* flag : {"--md", "--html"}) {
    const Ended ended =
        run_program({"report", "o", "--svg", "figures", flag, "figures/" + name}, folder.path());
    EXPECT_EQ(ended.code, 2);
    expect_mentions(ended.err, {"--svg figures/" + name + ": is what " + flag + " writes"});
    EXPECT_TRUE(listing_of(folder.path("figures")).empty());
  }
}

// A file that looks like our own may be an input of the same command.
TEST(FilesOfFlags, AreNotWhatTheCommandReads) {
  const TemporaryFolder folder;
  EXPECT_EQ(exported(folder, {"--chakra", "worker"}).code, 0);
  const std::string before = text_of(folder.path("worker.0.json"));
  const Ended ended = run_program({"run", "--platform", "two-hosts", "--model", "worker.0.json",
                                   "--iterations", "3", "--chakra", "worker"},
                                  folder.path());
  EXPECT_EQ(ended.code, 2);
  expect_mentions(ended.err, {"--chakra worker.0.json: is what this command reads"});
  EXPECT_EQ(text_of(folder.path("worker.0.json")), before);
}

// The places of a gate's files are also checked before it simulates.
TEST(FilesOfFlags, OfAGateReplaceNothingThatSynclineHasNotWritten) {
  const TemporaryFolder folder;
  std::ofstream(folder.path("a.cfg"))
      << "platform = two-hosts\nmodel = resnet20\nthroughput = 100\niterations = 3\n";
  EXPECT_EQ(run_program({"check", ".", "--bless", "--because", "first"}, folder.path()).code, 0);
  const std::string expected = text_of(folder.path("expected.csv"));
  for (const char* flag : {"--junit", "--md"})
    for (const char* file : {"a.cfg", "expected.csv"}) {
      const Ended ended = run_program({"check", ".", flag, file}, folder.path());
      EXPECT_EQ(ended.code, 2) << flag << file;
      EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
      expect_mentions(ended.err, {flag, file, "allowed is another name"});
    }
  EXPECT_EQ(text_of(folder.path("expected.csv")), expected);
  const Ended same = run_program({"check", ".", "--junit", "f", "--md", "f"}, folder.path());
  EXPECT_EQ(same.code, 2);
  for (int times = 0; times < 2; ++times)
    EXPECT_EQ(run_program({"check", ".", "--junit", "j.xml", "--md", "m.md"}, folder.path()).code,
              0);
}

}  // namespace
}  // namespace syncline

// syncline-calibrate as a user starts it: what it refuses, and what it does to files.
#include <algorithm>
#include <csignal>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

// A quick calibration, unless `more` changes that.
Ended calibrate(
    const Arguments& more, const std::string& folder, const std::function<void()>& before = [] {}) {
  Arguments arguments = more;
  for (const auto& [option, value] :
       {std::pair{"--compressors", "none"}, {"--baselines", "off"}, {"--distributions", "gauss"}})
    if (std::ranges::count(more, option) == 0)
      arguments.insert(arguments.end(), {option, value});
  return Program(arguments, folder, before, SYNCLINE_CALIBRATE).wait();
}

// Takes longer than any test, so it must be refused before it begins.
const Arguments endless{"--baselines", "on", "--sizes", "2^24", "--compressors", "topk"};

Arguments endless_to(const std::string& option, const std::string& path) {
  Arguments arguments = endless;
  arguments.insert(arguments.end(), {option, path});
  return arguments;
}

void expect_calibrator_refuses(const Ended& ended, const std::string& what) {
  EXPECT_EQ(ended.code, 2) << what;
  EXPECT_EQ(lines_in(ended.err), 1U) << what << ": " << ended.err;
  EXPECT_TRUE(ended.err.starts_with("syncline-calibrate: ")) << what << ": " << ended.err;
  EXPECT_EQ(ended.out, "") << what;
}

TEST(Calibrator, MeasuresWhatStandsTwiceOnce) {
  const TemporaryFolder folder;
  const auto rows = [&](const Arguments& more) {
    Arguments arguments{"--out", "t.csv", "--compressors", "topk", "--model", "h100"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended ended = calibrate(arguments, folder.path());
    EXPECT_EQ(ended.code, 0) << ended.err;
    const std::string text = text_of(folder.path("t.csv"));
    return text.substr(text.find("\ncompressor,"));
  };
  EXPECT_EQ(rows({"--sizes", "64,2^6,64", "--densities", "0.1,1e-1,0.10"}),
            rows({"--sizes", "64", "--densities", "0.1"}));
  const std::string once = text_of(folder.path("t.csv"));
  const Ended again = calibrate({"--append", "t.csv", "--compressors", "topk", "--model", "h100",
                                 "--sizes", "64", "--densities", "0.1"},
                                folder.path());
  expect_mentions(again.out, {"of them replacing older ones"});
  EXPECT_EQ(text_of(folder.path("t.csv")), once);
  const Ended twice =
      calibrate({"--sizes", "64", "--sizes", "65", "--out", "t.csv"}, folder.path());
  expect_calibrator_refuses(twice, "an option twice");
  expect_mentions(twice.err, {"--sizes is given twice"});
}

TEST(Calibrator, RefusesNumbersThatAreNotWrittenAsSuch) {
  const TemporaryFolder folder;
  for (const char* size :
       {"2^",   "2^ 4", "2^+4", "2^-4", "2^1.5",  "2^0x4", "2^4 ", "2^2^2", "2^32", "2^99999999999",
        "0x10", "+16",  " 16",  "16 ",  "16k",    "1.5",   "inf",  "nan",   "-1",   "0",
        "",     ",",    "64,",  ",64",  "64,,64", "3^2",   "^4"})
    expect_calibrator_refuses(calibrate({"--sizes", size, "--out", "t.csv"}, folder.path()), size);
  for (const char* option : {"--densities", "--bits", "--threads"})
    for (const char* value : {"0x1", "+1", " 1", "1 ", "1,", "one", "nan", "inf", "-1", ""}) {
      for (const char* compressors : {"none", "topk,qsgd"})
        expect_calibrator_refuses(
            calibrate({option, value, "--compressors", compressors, "--out", "t.csv"},
                      folder.path()),
            std::string(option) + " " + value);
    }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(Calibrator, TakesNumbersAsItsHelpWritesThem) {
  const TemporaryFolder folder;
  const Ended ended = calibrate({"--sizes", "2^4,64", "--out", "t.csv"}, folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  expect_mentions(text_of(folder.path("t.csv")), {",16,", ",64,"});
}

TEST(Calibrator, RefusesAPlaceBeforeItMeasures) {
  const TemporaryFolder folder;
  folder.write("file", "mine");
  fs::create_directory(folder.path("folder"));
  const auto before = listing_of(folder.path());
  for (const char* path :
       {"none/t.csv", "folder", "folder/", "file/t.csv", "/proc/t.csv", "/dev/null/t.csv"}) {
    const Ended ended = calibrate(endless_to("--out", path), folder.path());
    expect_calibrator_refuses(ended, path);
    expect_mentions(ended.err, {path, "cannot be written"});
  }
  for (const char* path : {"none.csv", "file", "folder"})
    expect_calibrator_refuses(calibrate(endless_to("--append", path), folder.path()), path);
  EXPECT_EQ(listing_of(folder.path()), before);
}

TEST(Calibrator, RefusesMoreThanHalfOfTheMachinesMemory) {
  const TemporaryFolder folder;
  const double gigabytes = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                           static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e9;
  if (gigabytes > 300)
    GTEST_SKIP() << "2^32 - 1 elements have room here";
  const Ended ended = calibrate({"--sizes", "256,4294967295", "--out", "t.csv"}, folder.path());
  expect_calibrator_refuses(ended, "--sizes");
  expect_mentions(ended.err, {"--sizes 4294967295", "464 GB", "half of this machine's"});
  EXPECT_TRUE(listing_of(folder.path()).empty());
}

TEST(Calibrator, TouchesNoFileButItsTable) {
  const TemporaryFolder folder;
  for (const char* name : {"t.csv.tmp", "thesis.part1", ".syncline-unfinished/thesis"})
    folder.write(name, std::string("mine: ") + name);
  folder.write("target", "mine");
  fs::create_symlink("target", folder.path("t.csv.part"));
  auto expected = listing_of(folder.path());
  for (const char* option : {"--out", "--out", "--append"}) {
    EXPECT_EQ(calibrate({"--sizes", "64", option, "t.csv"}, folder.path()).code, 0);
    auto after = listing_of(folder.path());
    EXPECT_EQ(after.erase("t.csv"), 1U);
    EXPECT_EQ(after, expected);
  }
}

TEST(Calibrator, WritesToADeviceAndDoesNotReplaceIt) {
  const TemporaryFolder folder;
  const Ended nothing = calibrate({"--sizes", "64", "--out", "/dev/null"}, folder.path());
  EXPECT_EQ(nothing.code, 0) << nothing.err;
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  const Ended full = calibrate({"--sizes", "64", "--out", "/dev/full"}, folder.path());
  EXPECT_EQ(full.code, 2);
  expect_mentions(full.err, {"/dev/full: cannot be written: No space left on device"});
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST(Calibrator, LeavesNothingOnAFullDisk) {
  const TemporaryFolder folder;
  folder.write("t.csv", "the table before");
  const auto before = listing_of(folder.path());
  for (const char* path : {"t.csv", "new.csv"}) {
    const Ended ended = calibrate(endless_to("--out", path), folder.path(), [] {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{100, 100};
      setrlimit(RLIMIT_FSIZE, &limit);
    });
    EXPECT_EQ(ended.code, 2);
    expect_mentions(ended.err, {path, "cannot be written: File too large"});
    EXPECT_EQ(listing_of(folder.path()), before);
  }
}

TEST(Calibrator, SaysThatItsOutputDoesNotArrive) {
  const TemporaryFolder folder;
  const Ended ended = calibrate({"--sizes", "64", "--out", "t.csv"}, folder.path(),
                                [] { dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO); });
  EXPECT_EQ(ended.code, 2);
  EXPECT_TRUE(ended.err.ends_with(
      "syncline-calibrate: standard output: cannot be written: No space left on device\n"))
      << ended.err;
  EXPECT_TRUE(fs::exists(folder.path("t.csv")));  // measured rows are kept
}

}  // namespace
}  // namespace syncline

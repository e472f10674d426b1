// Files that are complete or absent, and never damage another file.
#include "kernels/io/whole_file.h"

#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/unit/errors.h"
#include "tests/unit/folder.h"
#include "tests/unit/no_nameless_files.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

// Every test runs both where files can exist without a name and where they cannot.
class WholeFile : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!GetParam())
      refuse_nameless_files();
  }
  const TemporaryFolder folder_;
};

TEST_P(WholeFile, IsMadeAndReplacedWithNothingBesideIt) {
  write_atomically(folder_.path("result.json"), "old and longer");
  EXPECT_EQ(listing_of(folder_.path()).at("result.json"), "file old and longer");
  write_atomically(folder_.path("result.json"), "new");
  EXPECT_EQ(listing_of(folder_.path()),
            (std::map<std::string, std::string>{{"result.json", "file new"}}));
}

TEST_P(WholeFile, LeavesFilesWithEveryNameThatATemporaryFileMightHave) {
  for (const char* name :
       {"result.json.part", "result.json.tmp", "result.json~", ".result.json.swp", "thesis.part1",
        ".writable", ".syncline-unfinished/thesis", ".syncline-unfinished/unfinished-thesis"})
    folder_.write(name, std::string("mine: ") + name);
  fs::create_symlink("thesis.part1", folder_.path("t.csv.part"));
  auto expected = listing_of(folder_.path());
  for (const char* text : {"first", "second"}) {
    write_atomically(folder_.path("result.json"), text);
    check_place(folder_.path("result.json"));
    remove_unfinished(folder_.path());
    expected["result.json"] = std::string("file ") + text;
    EXPECT_EQ(listing_of(folder_.path()), expected);
  }
}

TEST_P(WholeFile, ThatCannotBeWrittenIsNamedAndNothingIsLeft) {
  const std::string below_a_file = folder_.write("file", "mine") + "/result.json";
  const auto before = listing_of(folder_.path());
  for (const std::string& path :
       {below_a_file, folder_.path(), folder_.path() + "/", folder_.path("none/result.json"),
        std::string("/proc/result.json"), std::string("/dev/null/x")})
    for (const auto& act :
         {error_of([&] { write_atomically(path, "text"); }), error_of([&] { check_place(path); })})
      expect_mentions(act, {path + ": cannot be written: "});
  EXPECT_EQ(listing_of(folder_.path()), before);
}

TEST_P(WholeFile, BehindALinkIsReplacedAndTheLinkStays) {
  folder_.write("there/result.json", "old");
  fs::create_symlink("there/result.json", folder_.path("link"));
  fs::create_symlink("there/new.json", folder_.path("dangling"));
  fs::create_symlink("link", folder_.path("link-to-link"));
  fs::create_symlink("circle", folder_.path("circle"));
  write_atomically(folder_.path("link-to-link"), "new");
  write_atomically(folder_.path("dangling"), "newer");
  EXPECT_EQ(listing_of(folder_.path()),
            (std::map<std::string, std::string>{{"there", "folder"},
                                                {"there/result.json", "file new"},
                                                {"there/new.json", "file newer"},
                                                {"link", "link to there/result.json"},
                                                {"link-to-link", "link to link"},
                                                {"dangling", "link to there/new.json"},
                                                {"circle", "link to circle"}}));
  expect_mentions(error_of([&] { write_atomically(folder_.path("circle"), "text"); }),
                  {"circle: cannot be written"});
}

TEST_P(WholeFile, KeepsThePermissionsOfTheOneBefore) {
  const std::string path = folder_.write("result.json", "old");
  chmod(path.c_str(), 0640);
  write_atomically(path, "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
}

TEST_P(WholeFile, IsNotMadeOfADevice) {
  check_place("/dev/null");
  write_atomically("/dev/null", "text");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  expect_mentions(error_of([] { write_atomically("/dev/full", "text"); }),
                  {"/dev/full: cannot be written: No space left on device"});
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_P(WholeFile, IsNotMadeOfAPipe) {
  const std::string path = folder_.path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  check_place(path);
  expect_mentions(error_of([&] { write_atomically(path, "text"); }), {path, "No such device"});
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  check_place(path);
  write_atomically(path, "text");
  char text[5] = {};
  EXPECT_EQ(read(reader, text, sizeof text), 4);
  EXPECT_STREQ(text, "text");
  close(reader);
  EXPECT_TRUE(fs::is_fifo(path));
}

TEST_P(WholeFile, GoesThroughAnOpenPipesPseudonym) {  // such as a shell's >(command)
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  for (const char* folder : {"/dev/fd/", "/proc/self/fd/"}) {
    const std::string path = folder + std::to_string(ends[1]);
    check_place(path);
    write_atomically(path, "text");
    char text[5] = {};
    EXPECT_EQ(read(ends[0], text, sizeof text), 4);
    EXPECT_STREQ(text, "text");
  }
  close(ends[0]);
  close(ends[1]);
}

TEST_P(WholeFile, OfAnOpenFilesPseudonymIsRefused) {  // it would lose what others write there
  const std::string path = folder_.write("out.txt", "printed before");
  const int file = open(path.c_str(), O_WRONLY | O_APPEND);
  fs::create_symlink("/dev/fd/" + std::to_string(file), folder_.path("link"));
  for (const std::string& pseudonym : {"/proc/self/fd/" + std::to_string(file),
                                       "/dev/fd/" + std::to_string(file), folder_.path("link")})
    expect_mentions(error_of([&] { write_atomically(pseudonym, "text"); }), {"open elsewhere"});
  close(file);
  EXPECT_EQ(text_of(path), "printed before");
}

// Simulates a full disk: no file may be longer than this.
TEST_P(WholeFile, ThatTheDiskCannotHoldLeavesTheOneBefore) {
  const std::string path = folder_.write("result.json", "old");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit limit{8192, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limit);
  check_place(path);
  for (const char* name : {"result.json", "another.json"})
    expect_mentions(
        error_of([&] { write_atomically(folder_.path(name), std::string(100000, 'x')); }),
        {name, "cannot be written: File too large"});
  const rlimit smaller{100, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &smaller);
  expect_mentions(error_of([&] { check_place(path); }), {"File too large"});
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(listing_of(folder_.path()),
            (std::map<std::string, std::string>{{"result.json", "file old"}}));
}

TEST_P(WholeFile, IsOneOfTwoTextsAtEveryMomentThatEndsTheProgram) {
  const std::string path = folder_.path("result.json");
  const std::string long_text(300000, 'x');
  for (int round = 0; round < 60; ++round) {
    const pid_t writer = fork();
    if (writer == 0)
      for (;;) {
        write_atomically(path, long_text);
        write_atomically(path, "short");
      }
    usleep(static_cast<useconds_t>(300 + 211 * round));
    kill(writer, SIGKILL);
    waitpid(writer, nullptr, 0);
    if (fs::exists(path)) {
      const std::string text = text_of(path);
      EXPECT_TRUE(text == long_text || text == "short") << text.size() << " bytes";
    }
    remove_unfinished(folder_.path());
    EXPECT_LE(listing_of(folder_.path()).size(), 1U);
  }
}

TEST_P(WholeFile, IsWrittenByManyAtATime) {
  const std::string path = folder_.path("result.json");
  std::vector<pid_t> writers;
  for (const char* text : {"one", "two", "three", "four"}) {
    writers.push_back(fork());
    if (writers.back() == 0) {
      int code = 0;
      for (int i = 0; i < 30 && code == 0; ++i)
        try {
          write_atomically(path, text);
        } catch (const std::exception&) {
          code = 1;
        }
      _exit(code);
    }
  }
  for (const pid_t writer : writers) {
    int status = 0;
    waitpid(writer, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(listing_of(folder_.path()).size(), 1U);
}

// Four processes add 1 to a number, 25 times each: 100.
TEST_P(WholeFile, UnderALockIsReadAndWrittenByOneAtATime) {
  const std::string path = folder_.path("number");
  for (int process = 0; process < 4; ++process)
    if (fork() == 0) {
      for (int times = 0; times < 25; ++times) {
        const FileLock lock(path);
        const std::string before = text_of(path);
        write_atomically(path, std::to_string(before.empty() ? 1 : std::stoi(before) + 1));
      }
      _exit(0);
    }
  while (wait(nullptr) > 0) {
  }
  EXPECT_EQ(listing_of(folder_.path()),
            (std::map<std::string, std::string>{{"number", "file 100"}}));
}

TEST_P(WholeFile, UnderALockIsNotLeftEmptyAndADeviceHasNone) {
  {
    const FileLock lock(folder_.path("new"));
    EXPECT_TRUE(fs::exists(folder_.path("new")));
    const FileLock device("/dev/null");
  }
  EXPECT_TRUE(listing_of(folder_.path()).empty());
  expect_mentions(error_of([&] { const FileLock lock(folder_.path("none/new")); }),
                  {"none/new: cannot be written"});
  folder_.write("old", "");
  { const FileLock lock(folder_.path("old")); }
  EXPECT_EQ(listing_of(folder_.path()).at("old"), "file ");
}

INSTANTIATE_TEST_SUITE_P(On, WholeFile, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& on) {
                           return std::string(on.param ? "ThisFileSystem"
                                                       : "OneWithoutNamelessFiles");
                         });

}  // namespace
}  // namespace syncline

// Output that cannot be printed or kept is an error, and never lost silently.
#include <csignal>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

Arguments short_run(const Arguments& more) {
  Arguments arguments{"run", "--model",    "resnet50", "--throughput",
                      "100", "--platform", "two-hosts"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// Every command that prints, short and long output.
const std::vector<Arguments> commands{
    {"--help"},
    {"--version"},
    {"list"},
    {"list", "models"},
    short_run({}),
    short_run({"--batch", "1,2"}),
    {"explain", "--model", "resnet50", "--throughput", "100", "--platform", "two-hosts"}};

void print_to(const char* path, int stream) {
  dup2(open(path, O_WRONLY), stream);
}

void print_to_closed_pipe() {
  int ends[2];
  if (pipe(ends) != 0 || dup2(ends[1], STDOUT_FILENO) < 0)
    _exit(126);
  close(ends[0]);
  close(ends[1]);
}

TEST(Printing, ToAFullDiskIsAnErrorWithItsReason) {
  for (const Arguments& arguments : commands) {
    const Ended ended = run_program(arguments, ".", [] { print_to("/dev/full", STDOUT_FILENO); });
    EXPECT_EQ(ended.code, 2) << arguments[0];
    EXPECT_EQ(ended.err, "syncline: standard output: cannot be written: No space left on device\n");
  }
}

// As in `syncline list | head -1`, which once complained.
TEST(Printing, ToAClosedPipeEndsWithoutAWordWhateverTheSignalDoes) {
  for (const auto handler : {SIG_DFL, SIG_IGN})
    for (const Arguments& arguments : commands) {
      const Ended ended = run_program(arguments, ".", [&] {
        std::signal(SIGPIPE, handler);
        print_to_closed_pipe();
      });
      EXPECT_EQ(ended.signal, SIGPIPE) << arguments[0];
      EXPECT_EQ(ended.err, "");
    }
}

// A file opened later would get the number of the closed stream.
TEST(Printing, ToAClosedStreamIsAnErrorAndGoesIntoNoFile) {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const TemporaryFolder folder;
    const Arguments arguments = short_run({"--batch", "1,2", "--trace", "--out"});
    const auto with = [&](const char* out) {
      Arguments all = arguments;
      all.emplace_back(out);
      return all;
    };
    EXPECT_EQ(run_program(with("open"), folder.path()).code, 0);
    const Ended ended = run_program(with("closed"), folder.path(), [&] { close(stream); });
    EXPECT_EQ(ended.code, stream == STDOUT_FILENO ? 2 : 0) << ended.err;
    EXPECT_EQ(listing_of(folder.path("closed")), listing_of(folder.path("open")));
  }
}

TEST(Printing, OfWarningsToAFullDiskIsAnError) {
  const Ended ended = run_program(short_run({"--workers", "1,100"}), ".",
                                  [] { print_to("/dev/full", STDERR_FILENO); });
  EXPECT_EQ(ended.code, 2);
}

TEST(Printing, ThatFailsLeavesWholeResults) {
  const TemporaryFolder folder;
  const Ended ended = run_program(short_run({"--batch", "1,2", "--trace", "--out", "out"}),
                                  folder.path(), [] { print_to("/dev/full", STDOUT_FILENO); });
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(
      run_program(short_run({"--batch", "1,2", "--trace", "--out", "other"}), folder.path()).code,
      0);
  EXPECT_EQ(listing_of(folder.path("out")), listing_of(folder.path("other")));
}

// Files may have at most `bytes` bytes: the results fit or do not, the traces do not.
TEST(FullDisk, LeavesWholeResultsAndNothingHalfWritten) {
  const Arguments sweep{"--batch", "1,2,3,4", "--jobs", "2", "--iterations", "100"};
  const auto run = [&](const TemporaryFolder& folder, const Arguments& more, rlim_t bytes) {
    Arguments arguments = short_run(sweep);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments, folder.path(), [&] {
      const rlimit limit{bytes, bytes};  // also sends SIGXFSZ, which once ended a run
      setrlimit(RLIMIT_FSIZE, &limit);
    });
  };
  const TemporaryFolder whole;
  ASSERT_EQ(run(whole, {"--trace", "--out", "out"}, RLIM_INFINITY).code, 0);
  const auto expected = listing_of(whole.path("out"));
  for (const rlim_t bytes : {rlim_t{0}, rlim_t{200}, rlim_t{1000}, rlim_t{4096}, rlim_t{8192}}) {
    const TemporaryFolder folder;
    const Ended ended = run(folder, {"--trace", "--out", "out"}, bytes);
    EXPECT_EQ(ended.code, 2) << bytes;
    if (bytes >= 1000) {
      EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
      expect_mentions(ended.err, {"cannot be written: File too large"});
    }
    if (fs::exists(folder.path("out")))
      for (const auto& [name, what] : listing_of(folder.path("out")))
        if (name != "results.csv") {  // contains the rows of finished cells
          EXPECT_EQ(what, expected.at(name)) << name;
        }
    EXPECT_EQ(run(folder, {"--trace", "--resume", "--out", "out"}, RLIM_INFINITY).code, 0);
    EXPECT_EQ(listing_of(folder.path("out")), expected);
  }
}

// Mounts a small file system, if the system allows users to.
bool mount_small_disk(const std::string& folder, const char* size) {
  const std::string user = std::to_string(getuid()), group = std::to_string(getgid());
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
    return false;
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << user << " " << user << " 1";
  std::ofstream("/proc/self/gid_map") << group << " " << group << " 1";
  return mount("none", folder.c_str(), "tmpfs", 0, size) == 0;
}

TEST(FullDisk, OfAnySizeEndsInOneLine) {
  for (const char* size : {"size=4k", "size=8k", "size=32k", "size=100k,nr_inodes=4"}) {
    const TemporaryFolder folder;
    fs::create_directory(folder.path("out"));
    const Ended ended = run_program(
        short_run({"--batch", "1,2,3,4", "--trace", "--out", "out", "--iterations", "100"}),
        folder.path(), [&] {
          if (!mount_small_disk(folder.path("out"), size))
            _exit(125);
        });
    if (ended.code == 125)
      GTEST_SKIP() << "this system mounts nothing for users";
    EXPECT_EQ(ended.code, 2) << size;
    EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
    expect_mentions(ended.err, {"cannot be written: No space left on device"});
  }
}

}  // namespace
}  // namespace syncline

// Shares of a sweep, and the options passed to sbatch; tests/slurm tests a real Slurm.
#include "sim/sweep/slurm.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/file.h>

#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

Arguments sweep_with(const Arguments& more) {
  Arguments arguments{"run",  "--model", "resnet20",  "--platform",   "two-hosts", "--throughput",
                      "100",  "--seed",  "1,2,3,4,5", "--iterations", "2",         "--out",
                      "o%u't"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

Share share(const std::string& text) {
  return share_of(parse_command_line({"--share", text}, {{"share", true}}));
}

TEST(Shares, HaveEachCellOnce) {
  for (std::size_t cell = 0; cell < 10; ++cell) {
    int shares = 0;
    for (const char* text : {"1/3", "2/3", "3/3"})
      shares += share(text).has(cell) ? 1 : 0;
    EXPECT_EQ(shares, 1) << cell;
  }
  EXPECT_TRUE(share("1/3").has(0) && share("2/3").has(1) && share("3/3").has(4));
  EXPECT_TRUE(share_of({}).has(7));
  // Of three values in two lines, say, no share gets the same value twice.
  EXPECT_FALSE(share("1/3").has(0) && share("1/3").has(3));
  for (const char* bad : {"3", "0/2", "3/2", "/", "1/", "/2", "1/2/3", "1.5/2", "-1/2", "1/0"})
    expect_mentions(error_of([&] { share(bad); }), {"--share"});
}

TEST(Ranges, AreAsSbatchReadsThem) {
  EXPECT_EQ(ranges({1, 2, 3, 7, 9, 10}), "1-3,7,9-10");
  EXPECT_EQ(ranges({4}), "4");
  EXPECT_EQ(ranges({}), "");
}

TEST(SharesOfASweep, TogetherAreWhatOneRunLeaves) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(sweep_with({}), folder.path()).code, 0);
  fs::rename(folder.path("o%u't"), folder.path("whole"));
  // Both at the same time, into one folder.
  const Program first(sweep_with({"--share", "1/2"}), folder.path());
  const Program second(sweep_with({"--share", "2/2"}), folder.path());
  const Ended ended = first.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  expect_mentions(ended.out, {"the median of 3 seeds (1, 4 and 5)"});
  EXPECT_EQ(second.wait().code, 0);
  EXPECT_FALSE(fs::exists(folder.path("o%u't/results.csv")));  // would be a share's
  EXPECT_EQ(run_program(sweep_with({"--share", "7/9"}), folder.path()).code, 0);  // has no cells
  EXPECT_EQ(run_program(sweep_with({"--resume"}), folder.path()).code, 0);
  EXPECT_EQ(listing_of(folder.path("o%u't")), listing_of(folder.path("whole")));
}

TEST(SharesOfASweep, LetOneAnotherInAndNobodyElse) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path("o%u't"));
  const int other = open(folder.path("o%u't").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(flock(other, LOCK_SH), 0);
  EXPECT_EQ(run_program(sweep_with({"--share", "1/5"}), folder.path()).code, 0);
  expect_mentions(run_program(sweep_with({}), folder.path()).err, {"another run writes there"});
  flock(other, LOCK_EX);
  expect_mentions(run_program(sweep_with({"--share", "2/5"}), folder.path()).err,
                  {"another run writes there"});
  close(other);
}

class Submission : public testing::Test {
 protected:
  // An sbatch that runs `body` and writes its arguments, one per line.
  Ended submit(const std::string& body, const Arguments& more) const {
    const std::string path = folder_.write(
        "bin/sbatch", "#!/bin/sh\nprintf '%s\\n' \"$@\" >" + folder_.path("said") + "\n" + body);
    fs::permissions(path, fs::perms::owner_all);
    return run_program(sweep_with(more), folder_.path(), [&] {
      setenv("PATH", (folder_.path("bin") + ":/usr/bin:/bin").c_str(), 1);
    });
  }
  const TemporaryFolder folder_;
};

TEST_F(Submission, IsOfTheTasksThatHaveSomethingToDo) {
  ASSERT_EQ(run_program(sweep_with({"--share", "2/3"}), folder_.path()).code, 0);  // cells 2 and 4
  const Ended ended = submit("echo 'a warning' >&2; echo '42;cluster'\n",
                             {"--slurm", "3", "--jobs", "2", "--limit-seconds", "60"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  expect_mentions(ended.out, {"submitted job 42: 2 tasks for 3 cells"});
  const std::string said = text_of(folder_.path("said"));
  expect_mentions(
      said, {"--parsable\n", "--array=1,3\n", "--cpus-per-task=2\n", "o%%u't/slurm/%A_%a.log\n",
             "'--out=o%u'\\''t'", "'--seed=1,2,3,4,5'", "'--limit-seconds=60'", "'--resume'",
             "--share \"$SLURM_ARRAY_TASK_ID/3\""});
  // A task's command is valid for a shell.
  const std::size_t wrap = said.find("--wrap=") + 7;
  folder_.write("task.sh", "SLURM_ARRAY_TASK_ID=$1\n" + said.substr(wrap));
  for (const char* task : {"1", "3"})
    EXPECT_EQ(Program(
                  {folder_.path("task.sh"), task}, folder_.path(), [] {}, "/bin/sh")
                  .wait()
                  .code,
              0);
  EXPECT_EQ(listing_of(folder_.path("o%u't")).size(), 6U);  // and the folder of the logs
  const Ended table = submit("exit 1\n", {"--slurm", "3"});
  EXPECT_EQ(table.code, 0) << table.err;
  expect_mentions(table.out, {"samples/s"});
}

// All flags except those of the submission itself, so that a task refuses and leaves what a run
// here would.
TEST_F(Submission, GivesItsTasksEveryFlag) {
  const Arguments flags{"--limit-trace",   "5e9", "--limit-memory", "1e10",
                        "--limit-seconds", "99",  "--trace",        "--resume",
                        "--slurm",         "2",   "--jobs",         "3"};
  ASSERT_EQ(submit("echo 42\n", flags).code, 0);
  const std::string said = text_of(folder_.path("said"));
  const std::string task = said.substr(said.find("--wrap="));
  expect_mentions(task, {"'--limit-trace=5e9'", "'--limit-memory=1e10'", "'--limit-seconds=99'",
                         "'--trace", "'--out=o%u'", "'--resume'", "--jobs \"${SLURM_CPUS"});
  EXPECT_EQ(task.find("--slurm"), std::string::npos) << task;
  EXPECT_EQ(task.find("'--jobs"), std::string::npos) << task;
}

TEST_F(Submission, IsOfTasksThatRefuseATraceAsItWouldBeRefusedHere) {
  ASSERT_EQ(submit("echo 42\n", {"--slurm", "2", "--trace", "--limit-trace", "1"}).code, 0);
  const std::string said = text_of(folder_.path("said"));
  folder_.write("task.sh", "SLURM_ARRAY_TASK_ID=1\n" + said.substr(said.find("--wrap=") + 7));
  const Ended ended = Program(
                          {folder_.path("task.sh")}, folder_.path(), [] {}, "/bin/sh")
                          .wait();
  EXPECT_EQ(ended.code, 2) << ended.out;
  expect_mentions(ended.err, {"--trace would write about", "--limit-trace"});
}

TEST_F(Submission, ThatFailsIsOneLineAndLeavesNothing) {
  for (const auto& [body, word] : std::map<std::string, std::string>{
           {"echo 'sbatch: error: invalid partition' >&2; echo more; exit 1\n",
            "invalid partition"},
           {"true\n", "it says nothing"},
           {"echo nonsense\n", "nonsense"}}) {
    const Ended ended = submit(body, {"--slurm", "3"});
    EXPECT_EQ(ended.code, 2);
    EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
    expect_mentions(ended.err, {"--slurm: sbatch refuses: ", word});
    EXPECT_FALSE(fs::exists(folder_.path("o%u't")));
  }
  const Ended none = run_program(sweep_with({"--slurm", "3"}), folder_.path(),
                                 [&] { setenv("PATH", folder_.path().c_str(), 1); });
  EXPECT_EQ(none.code, 2);
  EXPECT_EQ(lines_in(none.err), 1U) << none.err;
  expect_mentions(none.err, {"there is no sbatch", "--share 1/N"});
  for (const Arguments& more : {Arguments{"--slurm", "0"},
                                {"--slurm", "many"},
                                {"--slurm", "2", "--share", "1/2"},
                                {"--share", "2"}}) {
    const Ended ended = submit("echo 1\n", more);
    EXPECT_EQ(ended.code, 2);
    EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
  }
  EXPECT_FALSE(fs::exists(folder_.path("o%u't")));
}

}  // namespace
}  // namespace syncline

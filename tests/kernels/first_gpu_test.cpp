// kernels/first-gpu.sh without a GPU: every step says what it could not do, and why.
#include "tests/kernels/first_gpu.h"

#include <algorithm>

#include "tests/kernels/device.h"

namespace syncline {
namespace {

TEST_F(FirstGpu, ShellcheckFindsNothing) {
  if (std::system("command -v shellcheck >/dev/null") != 0)
    GTEST_SKIP() << "no shellcheck";
  EXPECT_EQ(std::system("shellcheck " KERNELS_FOLDER "/first-gpu.sh"), 0);
}

TEST_F(FirstGpu, RefusesABudgetThatIsNoneInOneLine) {
  for (const char* seconds : {"", "0", "ten", "-5", "1e3", "10 a b"}) {
    const Ended ended = calibrate(seconds, KERNELS_FOLDER "/first-gpu.sh");
    EXPECT_EQ(ended.code, 2) << seconds;
    EXPECT_EQ(std::ranges::count(ended.text, '\n'), 1) << ended.text;
  }
}

const std::vector<std::string> steps_that_calibrate{"large", "sizes", "rivals", "counters",
                                                    "sanitizer"};

// A fake calibrator in two parts: it reads its options, and writes one row.
const std::string reads =
    "while [ $# -gt 0 ]; do case $1 in --out) out=$2 ;; --compressors) of=$2 ;; esac; shift; "
    "done\n";
const std::string writes =
    "printf '# device: none\\ncompressor,parameters,operation,elements,seconds,p10,p90,wire_bytes,"
    "distribution\\ntopk,,encode,100,1e-3,1e-3,1e-3,10,gauss\\n' >$out\n";

// With an nvcc that does not work, nothing is built, and no later step pretends otherwise.
TEST_F(FirstGpu, WithAnNvccThatDoesNotCompileNothingIsSaidToBeMeasured) {
  on_the_path("nvcc", "echo 'this nvcc compiles nothing' >&2; exit 1\n");
  const Ended ended = run("60", std::string("CUDACXX=") + folder_ + "/bin/nvcc");
  EXPECT_EQ(ended.code, 1) << ended.text;
  EXPECT_EQ(step("build"), "FAILED       nvcc does not compile: see build.log") << ended.text;
  for (const std::string& name : steps_that_calibrate)
    EXPECT_EQ(step(name), "not possible the calibrator does not run here");
  for (const char* name : {"tests", "stress"})
    EXPECT_EQ(step(name).find("not possible there is no kernels_test: "), 0u) << step(name);
  EXPECT_NE(summary().find("No table was measured."), std::string::npos) << summary();
}

TEST_F(FirstGpu, WithoutADeviceTheCalibratorsReasonIsSaid) {
  if (why_no_device().empty())
    GTEST_SKIP() << "there is a GPU";
  std::filesystem::create_symlink(CALIBRATE, folder_ + "/build/syncline-calibrate");
  EXPECT_EQ(run("60").code, 1);
  EXPECT_EQ(step("build").find("FAILED       syncline-calibrate: --device cuda: "), 0u)
      << step("build");
  for (const std::string& name : steps_that_calibrate)
    EXPECT_EQ(step(name), "not possible the calibrator does not run here");
}

// A fifth of 20 s is for eight tables, and the second never finishes.
TEST_F(FirstGpu, AStepThatUsesUpItsSliceLeavesTheNextOnesTheirs) {
  built("syncline-calibrate", reads + "[ \"$of\" != qsgd ] || sleep 100\n" + writes);
  EXPECT_EQ(run("20").code, 1);
  EXPECT_NE(step("large").find("of 8 at 2000, qsgd: out of time"), std::string::npos)
      << step("large");
  EXPECT_EQ(step("sizes").find("done         1 rows"), 0u) << summary();
}

TEST_F(FirstGpu, TestsThatAreKilledSkippedOrDoNotEndHaveNotPassed) {
  built("kernels_test",
        "case $1 in\n"
        "--gtest_list_tests) printf 'DeviceTopk.\\n  Passes\\n  Hangs\\n  Dies\\n  Skips\\n"
        "DeviceStress.\\n  Skips\\nOther.\\n  Passes\\n' ;;\n"
        "*Hangs) sleep 100 ;;\n*Dies) kill -9 $$ ;;\n*Skips) echo '[  SKIPPED ]' ;;\nesac\n");
  on_the_path("nvcc", "exit 1\n");
  EXPECT_EQ(run("12", std::string("CUDACXX=") + folder_ + "/bin/nvcc").code, 1);
  EXPECT_EQ(step("tests"),
            "FAILED       1 of 4 passed, 1 wrong, 1 skipped, 1 out of time, 0 never begun");
  const std::string results = text_of(folder_ + "/out/tests.txt");
  for (const char* line : {"passed DeviceTopk.Passes\n", "out of time DeviceTopk.Hangs\n",
                           "WRONG DeviceTopk.Dies (code 137)", "skipped DeviceTopk.Skips\n"})
    EXPECT_NE(results.find(line), std::string::npos) << results;
}

TEST_F(FirstGpu, WhatTheMachineLacksIsSaidAndTheRestIsMeasured) {
  built("syncline-calibrate", reads + writes);
  for (const char* missing : {"compute-sanitizer", "ncu", "python3"})
    on_the_path(missing, "exit 127\n");
  EXPECT_EQ(run("60").code, 1);
  EXPECT_EQ(step("build"), "done         no tests: GoogleTest is missing, or they were not built");
  EXPECT_EQ(step("large"), "done         8 of 8 at 2000");
  EXPECT_EQ(step("rivals"), "done         1 rows; no PyTorch here");
  EXPECT_EQ(step("sanitizer"), "not possible compute-sanitizer is missing");
  EXPECT_EQ(step("counters"), "not possible ncu is missing");
}

}  // namespace
}  // namespace syncline

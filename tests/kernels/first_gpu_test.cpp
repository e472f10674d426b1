// kernels/first-gpu.sh where there is no GPU: every step says what it could not do, and why.
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

// nvcc is there and does not work: nothing is built, and no later step pretends otherwise.
TEST_F(FirstGpu, WithAnNvccThatDoesNotCompileNothingIsSaidToBeMeasured) {
  on_the_path("nvcc", "echo 'this nvcc compiles nothing' >&2; exit 1\n");
  const Ended ended = run("60", std::string("CUDACXX=") + folder_ + "/bin/nvcc");
  EXPECT_EQ(ended.code, 1) << ended.text;
  EXPECT_EQ(step("build"), "FAILED       nvcc does not compile: see build.log") << ended.text;
  for (const char* name :
       {"sanitizer", "device-tests", "calibrate-large", "calibrate-sizes", "baselines", "stress"})
    EXPECT_EQ(step(name).find("not possible no "), 0u) << step(name);
  EXPECT_NE(summary().find("No table was measured."), std::string::npos) << summary();
}

// A build without CUDA, and without tests: the tests count as failed, by their names.
TEST_F(FirstGpu, WithoutADeviceOrGoogleTestEveryStepSaysSo) {
  if (why_no_device().empty())
    GTEST_SKIP() << "there is a GPU";
  std::filesystem::create_symlink(CALIBRATE, folder_ + "/build/syncline-calibrate");
  const Ended ended = run("60");
  EXPECT_EQ(ended.code, 1) << ended.text;
  for (const char* name : {"sanitizer", "calibrate-large", "calibrate-sizes", "baselines"})
    EXPECT_NE(step(name).find("not possible syncline-calibrate: --device cuda: "),
              std::string::npos)
        << step(name);
  for (const char* name : {"device-tests", "stress"})
    EXPECT_EQ(step(name).find("FAILED       GoogleTest is missing: "), 0u) << step(name);
  EXPECT_NE(step("stress").find("DeviceStress.*"), std::string::npos);
}

// Skipped tests are counted, and are no success.
TEST_F(FirstGpu, WithTestsThatAreAllSkippedNoTestRan) {
  std::filesystem::create_symlink(CALIBRATE, folder_ + "/build/syncline-calibrate");
  std::ofstream(folder_ + "/build/CTestTestfile.cmake")
      << "add_test(DeviceBaselines.A true)\nset_tests_properties(DeviceBaselines.A PROPERTIES "
         "SKIP_REGULAR_EXPRESSION skipped ENVIRONMENT A=1)\n"
         "add_test(DeviceBaselines.B sh -c \"echo skipped\")\nset_tests_properties("
         "DeviceBaselines.A DeviceBaselines.B PROPERTIES SKIP_RETURN_CODE 0)\n";
  run("60");
  EXPECT_EQ(step("device-tests"), "FAILED       no test ran: 0 passed, 2 skipped") << summary();
  EXPECT_EQ(step("stress").find("FAILED       no test ran: 0 passed, 0 skipped"), 0u);
}

}  // namespace
}  // namespace syncline

// What continuous integration runs.
#include <gtest/gtest.h>

#include "tests/repo/commands.h"

namespace syncline {
namespace {

// Without them CMake would leave out the fuzzers, and the sanitizers' build would not be one.
TEST(Ci, InstallsTheCompilerOfItsSanitizersAndFuzzers) {
  std::string all;
  for (const std::string& line : lines_of(root / ".ci/run"))
    if (!line.starts_with("#"))
      all += line + "\n";
  for (const char* what : {" clang ", " lld ", " libomp-dev ", "install_packages\n",
                           "cmake --preset asan\n", "tests/fuzz/run.sh"})
    EXPECT_NE(all.find(what), std::string::npos) << what;
  // Every kind of test but those that start Slurm or a browser, or stop and crowd processes.
  for (const char* kind : {"unit", "program", "golden", "repo", "kernels"})
    EXPECT_TRUE(std::ranges::any_of(lines_of(root / ".ci/run"), [&](const std::string& line) {
      return line.starts_with("ctest --preset asan") && line.find(kind) != std::string::npos;
    })) << kind;
}

}  // namespace
}  // namespace syncline

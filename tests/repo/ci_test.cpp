// The content of the continuous-integration script.
#include <algorithm>
#include <gtest/gtest.h>

#include "tests/repo/commands.h"

namespace syncline {
namespace {

// Without these packages CMake would leave out the fuzzers, and the sanitizer build would not be
// one.
TEST(Ci, InstallsTheCompilerOfItsSanitizersAndFuzzers) {
  std::string all;
  for (const std::string& line : lines_of(root / ".ci/run"))
    if (!line.starts_with("#"))
      all += line + "\n";
  for (const char* what : {" clang ", " lld ", " libomp-dev ", "install_packages\n",
                           "cmake --preset asan\n", "tests/fuzz/run.sh"})
    EXPECT_NE(all.find(what), std::string::npos) << what;
  const auto tested = [](const std::string& kind) {
    return std::ranges::any_of(lines_of(root / ".ci/run"), [&](const std::string& line) {
      return line.starts_with("ctest --preset release") && line.find(kind) != std::string::npos;
    });
  };
  for (const char* sanitized :
       {"\nin_two build/asan/tests/unit_test ", " in_two build/asan/kernels/tests/kernels_test ",
        "\nctest --preset asan -L laws "})
    EXPECT_NE(all.find(sanitized), std::string::npos) << sanitized;
  // These start the program that the variable names.
  EXPECT_NE(all.find("export SYNCLINE_PROGRAM=$PWD/build/asan/syncline\n"), std::string::npos);
  for (const char* kind : {"-L program", "Golden", "Data"})
    EXPECT_TRUE(tested(kind)) << kind;
  EXPECT_NE(all.find("./test.sh --all\n"), std::string::npos);
}

// That nothing is thrown says nothing about a result: a test compares that instead.
TEST(Ci, NoTestExpectsOnlyThatNothingIsThrown) {
  for (const auto& file : std::filesystem::recursive_directory_iterator(root / "tests")) {
    if (file.path().extension() != ".cpp")
      continue;
    for (const std::string& line : lines_of(file.path()))
      EXPECT_EQ(line.find("EXPECT_NO_"
                          "THROW("),
                std::string::npos)
          << file.path() << line;
  }
}

// Installing a package of npm may run commands that the package brings.
TEST(Ci, NpmRunsNoScriptsOfPackages) {
  const std::string ci = "npm ci", sealed = "--ignore-scripts";
  int found = 0;
  for (const char* file : {".ci/run", "tests/page/page_test.sh", "tests/README.md"}) {
    std::string all;
    for (const std::string& line : lines_of(root / file))
      all += line + " ";
    for (std::size_t at = all.find(ci); at != std::string::npos; at = all.find(ci, at + 1)) {
      EXPECT_EQ(all.substr(at + ci.size() + 1, sealed.size()), sealed) << file;
      ++found;
    }
  }
  EXPECT_EQ(found, 3);
}

// The last stage of the Dockerfile is the image.
TEST(Ci, TheContainerDoesNotRunAsRoot) {
  std::string user = "root";
  for (const std::string& line : lines_of(root / "Dockerfile"))
    user = line.starts_with("FROM ") ? "root" : line.starts_with("USER ") ? line.substr(5) : user;
  EXPECT_NE(user, "root");
  EXPECT_NE(user, "0");
}

}  // namespace
}  // namespace syncline

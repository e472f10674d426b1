// For any input, our Python programs report errors in one line or by the usage text, with exit code
// 2, without a traceback and without control characters.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/repo/commands.h"
#include "tests/unit/errors.h"
#include "tests/unit/folder.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

TEST(PythonPrograms, EndWithCode2AndWithoutATraceback) {
  if (python3().empty())
    GTEST_SKIP() << "no python3";
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo(folder.path("pipe").c_str(), 0600), 0);
  folder.write("binary", std::string("\xff\0\x1f\x8b", 4));
  int programs = 0;
  for (const char* place : {"models", "models/data", "platforms", "kernels/calibrate"})
    for (const fs::directory_entry& entry : fs::directory_iterator(root / place)) {
      if (entry.path().extension() != ".py" ||
          text_of(entry.path().string()).find("__main__") == std::string::npos)
        continue;
      ++programs;
      for (const std::string& arguments :
           {std::string("--unknown"), folder.path("pipe"), folder.path("binary"),
            std::string("\"$(printf '\\033[2J')\"")}) {
        int status = 0;
        const std::string said =
            output_of("cd " + folder.path() + " && PYTHONDONTWRITEBYTECODE=1 timeout 20 " +
                          python3() + " " + entry.path().string() + " " + arguments,
                      status);
        EXPECT_EQ(WEXITSTATUS(status), 2) << entry.path() << " " << arguments << "\n" << said;
        EXPECT_EQ(said.find("Traceback"), std::string::npos) << said;
        EXPECT_EQ(said.find('\33'), std::string::npos) << entry.path() << " " << arguments;
        EXPECT_NE(said, "") << entry.path() << " " << arguments;
      }
    }
  EXPECT_GE(programs, 8);
}

TEST(PythonPrograms, SayThatTheirOutputCannotBeWritten) {
  if (python3().empty())
    GTEST_SKIP() << "no python3";
  for (const char* command : {"models/data/images.py", "platforms/generate.py --check"}) {
    int status = 0;
    const std::string said =
        output_of("(" + python3() + " " + (root / command).string() + " >/dev/full)", status);
    EXPECT_EQ(WEXITSTATUS(status), 2) << said;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  }
}

}  // namespace
}  // namespace syncline

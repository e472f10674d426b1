// The example of a gate in continuous integration works as it is: every command of its workflow and
// of its README.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <sys/wait.h>

#include "tests/repo/commands.h"
#include "tests/unit/errors.h"
#include "tests/unit/folder.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

// The rest of each line that starts with `begin`.
std::vector<std::string> behind(const std::string& begin, const fs::path& file) {
  std::ifstream in(root / file);
  std::vector<std::string> found;
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(begin))
      found.push_back(line.substr(begin.size()));
  return found;
}

// A clone after its build, in which commands are run as written.
class GateExample : public testing::Test {
 protected:
  GateExample() {
    fs::create_directories(folder_.path("experiments/check"));
    fs::copy(root / "experiments/check", folder_.path("experiments/check"),
             fs::copy_options::recursive);
    fs::create_directories(folder_.path("experiments/validation"));
    fs::create_directories(folder_.path("build/release"));
    fs::copy(root / "experiments/validation/bert-large-40gbe",
             folder_.path("experiments/validation/bert-large-40gbe"));
    fs::create_symlink(SYNCLINE_PROGRAM, folder_.path("build/release/syncline"));
    folder_.write("run.sh", "#!/bin/sh\nexec build/release/syncline \"$@\"\n");
    fs::permissions(folder_.path("run.sh"), fs::perms::owner_all);
  }
  // The pull request is based on the current state.
  void be_a_pull_request() const {
    EXPECT_EQ(
        code_of("git init -q . && git add experiments && git -c user.name=a -c user.email=a@b "
                "commit -q -m base && git update-ref refs/remotes/origin/main HEAD"),
        0)
        << text_of(folder_.path("printed"));
  }
  int code_of(const std::string& command) const {
    return WEXITSTATUS(
        std::system(("cd '" + folder_.path() + "' && export GITHUB_STEP_SUMMARY=summary.md" +
                     " GITHUB_BASE_REF=main PATH=\"$PWD/build/release:$PATH\" && (" + command +
                     ") > printed 2>&1")
                        .c_str()));
  }
  const TemporaryFolder folder_;
};

TEST_F(GateExample, RunsAsItsWorkflowSays) {
  const std::vector<std::string> commands =
      behind("        run: ", "experiments/check/github-actions.yml");
  ASSERT_EQ(commands.size(), 3U);
  be_a_pull_request();
  for (const std::string& command : commands)
    EXPECT_EQ(code_of(command), 0) << command << "\n" << text_of(folder_.path("printed"));
  expect_mentions(text_of(folder_.path("summary.md")),
                  {"experiments/check/training: 4 of 4 as expected", "syncline validate: 3 of 3"});
  // The gate detects a slower network.
  std::ofstream(folder_.path("experiments/check/training/compressed.cfg"), std::ios::app)
      << "bandwidth-factor = 0.8\n";
  EXPECT_EQ(code_of(commands.front()), 1);
  EXPECT_EQ(code_of(commands.back()), 0);
  expect_mentions(text_of(folder_.path("summary.md")),
                  {"3 of 4 as expected, 1 moved", "| option bandwidth-factor (none) -\\> 0.8 |",
                   "#### against origin/main ("});
}

TEST_F(GateExample, RunsInARepositoryOfOnesOwn) {
  std::vector<std::string> commands =
      behind("        run: ", "experiments/check/own-repository.yml");
  std::erase_if(commands, [](const std::string& command) {  // commands that prepare the machine
    return !command.starts_with("syncline ") && !command.starts_with("cat ");
  });
  ASSERT_EQ(commands.size(), 2U);
  be_a_pull_request();
  fs::copy(folder_.path("experiments/check/training"), folder_.path("training"));
  for (const std::string& command : commands)
    EXPECT_EQ(code_of(command), 0) << command << "\n" << text_of(folder_.path("printed"));
  expect_mentions(
      text_of(folder_.path("summary.md")),
      {"training: 4 of 4 as expected", "the commit has no expected.csv of this folder"});
}

// The package is installed as root, so nothing from the pull request may be installed: neither a
// file of the workspace, nor a download, unless its SHA-256 is that of the repository's variable.
TEST_F(GateExample, InstallsNothingThatAPullRequestCouldHaveCommitted) {
  const std::string begin = "          ";
  std::string step;
  const std::vector<std::string> lines = lines_of(root / "experiments/check/own-repository.yml");
  const auto at = std::ranges::find(lines, "        run: |");
  ASSERT_NE(at, lines.end());
  for (auto line = at + 1; line->starts_with(begin); ++line)
    step += line->substr(begin.size()) + "\n";
  EXPECT_GT(std::ranges::find(lines, "      - uses: actions/checkout@v4"), at);
  EXPECT_EQ(std::ranges::count(lines, "        run: |"), 1);
  const std::string deb = folder_.path("tmp/syncline.deb");
  step = std::regex_replace(step, std::regex("/tmp/"), folder_.path("tmp/"));
  fs::create_directory(folder_.path("tmp"));
  folder_.write("syncline.deb", "of the pull request");
  // Stand-ins for the programs that download and install.
  folder_.write("build/release/curl", "#!/bin/sh\nprintf released >\"$2\"\n");
  folder_.write("build/release/apt-get",
                "#!/bin/sh\nfor last; do :; done\ncase $last in *.deb) cat \"$last\" "
                ">>installed ;; esac\n");
  for (const char* stand_in : {"build/release/curl", "build/release/apt-get"})
    fs::permissions(folder_.path(stand_in), fs::perms::owner_all);
  folder_.write("step.sh", step);
  const auto with = [&](const std::string& digest) {
    return code_of("SHA256=" + digest + " DEB=https://x.invalid sh -e step.sh");
  };
  for (const std::string& wrong : {std::string(), std::string(64, '0')}) {
    EXPECT_NE(with(wrong), 0) << text_of(folder_.path("printed"));
    EXPECT_FALSE(fs::exists(folder_.path("installed"))) << wrong;
  }
  EXPECT_EQ(with("$(printf released | sha256sum | cut -d' ' -f1)"), 0)
      << text_of(folder_.path("printed"));
  EXPECT_EQ(text_of(folder_.path("installed")), "released");
}

// Permissions, time limit and concurrency of a workflow.
TEST(Workflows, HavePermissionsATimeoutAndOneRunAtATime) {
  for (const std::string name : {"github-actions.yml", "own-repository.yml"})
    expect_mentions(text_of((root / "experiments/check" / name).string()),
                    {"\npermissions:\n  contents: read\n", "\nconcurrency:",
                     "  cancel-in-progress: true\n", "    timeout-minutes: ", "fetch-depth: 0"});
  expect_mentions(text_of((root / "experiments/check/github-actions.yml").string()),
                  {"actions/cache@v4"});
}

TEST_F(GateExample, RunsAsItsReadmeSays) {
  const std::string expected = text_of(folder_.path("experiments/check/training/expected.csv"));
  const std::string begin = "    build/release/syncline";
  const std::vector<std::string> commands = behind(begin, "experiments/check/README.md");
  ASSERT_GE(commands.size(), 4U);
  for (const std::string& command : commands)
    EXPECT_EQ(code_of(begin + command), 0) << command << "\n" << text_of(folder_.path("printed"));
  EXPECT_EQ(text_of(folder_.path("experiments/check/training/expected.csv")), expected);
}

// The README shows the actual output.
TEST_F(GateExample, ShowsWhatIsPrinted) {
  const std::string path = folder_.path("experiments/check/training/exchanges.cfg");
  std::string text = text_of(path);
  text.replace(text.find("workers = 16\n"), 13, "workers = 16\nbandwidth-factor = 0.8\n");
  folder_.write("experiments/check/training/exchanges.cfg", text);
  EXPECT_EQ(code_of("build/release/syncline check experiments/check/training"), 1);
  std::string shown;
  for (const std::string& line : behind("    ", "experiments/check/README.md"))
    if (!line.starts_with("build/release/syncline"))
      shown += line + "\n";
  // A slow machine also prints progress.
  static const std::regex progress("[0-9]+ of [0-9]+ cells in [^\n]*\n");
  EXPECT_EQ(std::regex_replace(text_of(folder_.path("printed")), progress, ""), shown);
}

}  // namespace
}  // namespace syncline

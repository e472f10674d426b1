// The README is correct: its recipe for a schedule or a problem works, its commands parse, its
// paths exist.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <sstream>

#include "tests/repo/commands.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

// The indented lines of the section with this title; of all sections if it is empty.
std::vector<std::string> commands_under(const std::string& title) {
  std::vector<std::string> commands;
  bool inside = false;
  for (const std::string& line : lines_of(root / "README.md")) {
    if (line.starts_with("#"))
      inside = title.empty() || line == title;
    else if (inside && line.starts_with("    "))
      commands.push_back(line.substr(4));
  }
  return commands;
}

TEST(Readme, CommandsOfTheProgramWork) {
  const std::string program = "build/release/syncline";
  static const std::regex written("--(out|html|junit|md) (\\S+)");
  const fs::path out = fs::path(testing::TempDir()) / "syncline-readme";
  fs::create_directories(out);
  int commands = 0;
  for (const std::string& command : commands_under("")) {
    if (!command.starts_with(program))
      continue;
    if (command == program + " validate experiments/validation")
      continue;  // the table below shows its output
    std::string here = SYNCLINE_PROGRAM + command.substr(program.size());
    here = std::regex_replace(here, written, "--$1 " + out.string() + "/$2");
    succeeds("cd " + root.string() + " && " + here);
    ++commands;
  }
  fs::remove_all(out);
  EXPECT_GE(commands, 12);
}

// The run outlasts the slow spells that it shows, and every seed has the same winner.
TEST(Readme, LearningExamplePrintsWhatItSays) {
  std::string command;
  for (const std::string& one : commands_under("## Loss against simulated seconds"))
    if (one.find("--until loss") != std::string::npos)
      command = one;
  ASSERT_FALSE(command.empty());
  const std::string program = "build/release/syncline";
  const std::string printed =
      succeeds("cd " + root.string() + " && " SYNCLINE_PROGRAM + command.substr(program.size()));
  const std::size_t at = printed.find("reached loss");
  ASSERT_NE(at, std::string::npos) << printed;
  const std::string verdict = printed.substr(at, printed.find('\n', at) - at);
  EXPECT_NE(verdict.find("first in 5 of 5"), std::string::npos) << verdict;
  const std::vector<std::string> lines = lines_of(root / "README.md");
  EXPECT_NE(std::find(lines.begin(), lines.end(), verdict), lines.end()) << verdict;
}

// Once, a folder written by a run was committed, with a trace of 190 MB.
TEST(Repository, HoldsNoFileOfMoreThanAMegabyte) {
  if (!fs::exists(root / ".git"))
    GTEST_SKIP() << "a copy without its history does not say what belongs to it";
  std::istringstream tracked(
      succeeds("git -c core.quotePath=off -C " + root.string() + " ls-files"));
  int files = 0;
  for (std::string file; std::getline(tracked, file); ++files)
    if (fs::exists(root / file)) {
      EXPECT_LE(fs::file_size(root / file), 1'000'000u) << file;
    }
  EXPECT_GT(files, 300);
}

TEST(Readme, ItsScriptsExist) {
  for (const char* script : {"run.sh", "test.sh", ".ci/run"})
    EXPECT_EQ(access((root / script).c_str(), X_OK), 0) << script;
}

TEST(Readme, EveryLinkedFileExists) {
  static const std::regex link(R"(\]\(([^)#]+)\))");
  int links = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().filename() != "README.md" ||
        entry.path().string().find((root / "build").string()) == 0)
      continue;
    for (const std::string& line : lines_of(entry.path()))
      for (std::sregex_iterator match(line.begin(), line.end(), link), end; match != end; ++match) {
        const std::string target = (*match)[1];
        if (target.starts_with("http"))
          continue;
        ++links;
        EXPECT_TRUE(fs::exists(entry.path().parent_path() / target))
            << entry.path() << ": " << target;
      }
  }
  EXPECT_GT(links, 0);
}

// The perfect-scaling line that `validate` printed after this line, as a cell of the README's
// table.
std::string perfect_after(const std::string& line, const std::string& printed) {
  static const std::string before = "perfect scaling alone: median ";
  const std::size_t at = printed.find(before, printed.find("\n" + line + "\n"));
  const std::string error =
      printed.substr(at + before.size(), printed.find('%', at) - at - before.size());
  return error.starts_with("more") ? "—" : error + " %";
}

TEST(Readme, ValidationTableIsWhatValidatePrints) {
  const std::string printed = "\n" + succeeds("cd " + root.string() + " && " + SYNCLINE_PROGRAM +
                                              " validate experiments/validation");
  static const std::regex summary(
      R"(([a-z0-9-]+): rows (\d+) median ([\d.]+)% worst ([\d.]+)% tau ([\d.]+))");
  std::ostringstream readme;
  readme << std::ifstream(root / "README.md").rdbuf();
  int folders = 0;
  for (std::sregex_iterator match(printed.begin(), printed.end(), summary), end; match != end;
       ++match, ++folders) {
    const std::string row = "README.md) | " + (*match)[2].str() + " | " + (*match)[3].str() +
                            " % | " + (*match)[4].str() + " % | " + (*match)[5].str() + " | " +
                            perfect_after("experiments/validation/" + (*match)[1].str(), printed) +
                            " |";
    EXPECT_NE(readme.str().find("[" + (*match)[1].str() + "]"), std::string::npos);
    EXPECT_NE(readme.str().find(row), std::string::npos) << "the README should say: " << row;
  }
  EXPECT_GT(folders, 1);
}

// The text of CONTRIBUTING between these fences.
std::string patch_for_a_figure() {
  std::string patch;
  bool inside = false;
  for (const std::string& line : lines_of(root / "CONTRIBUTING.md")) {
    if (inside && line == "```")
      return patch;
    if (inside)
      patch += line + "\n";
    inside = inside || line == "```diff";
  }
  return {};
}

// Follows the recipes in a copy of the tree: four commands of the README and the patch of
// CONTRIBUTING, then a build. Takes seconds with ccache, and as long as a new build without.
TEST(Readme, RecipesForAScheduleAProblemAndAFigureNeedNoOtherEdit) {
  const std::vector<std::string> recipe = commands_under("## Add a schedule, or a problem");
  ASSERT_EQ(recipe.size(), 6u);
  EXPECT_EQ(recipe[4], "./run.sh list schedules");
  EXPECT_EQ(recipe[5], "./test.sh");

  // The same folder in every run, for ccache, but different for each clone.
  const fs::path copy = fs::path(testing::TempDir()) /
                        ("syncline-recipe-" + std::to_string(fs::hash_value(fs::canonical(root))));
  fs::remove_all(copy);
  fs::create_directories(copy);
  const std::string in_copy = "cd " + copy.string() + " && ";
  succeeds("cd " + root.string() +
           " && cp -r CMakeLists.txt sim kernels tests models platforms experiments " +
           copy.string());
  succeeds(in_copy + recipe[0] + " && " + recipe[1] + " && " + recipe[2] + " && " + recipe[3]);
  // A schedule with servers that declares no parameters must pass the laws, too.
  succeeds(in_copy +
           "sed -e 's/\"asp\"/\"plain-asp\"/' -e '/\\.options = {pull_option()},/d' "
           "-e '/\\.pulls_compressed = /d' sim/schedules/asp.cpp > sim/schedules/plain-asp.cpp && "
           "! grep pull_ sim/schedules/plain-asp.cpp");
  succeeds(in_copy +
           "cmake -S . -B build/release -G Ninja "
           "-DCMAKE_BUILD_TYPE=Release -DCMAKE_CUDA_COMPILER=NOTFOUND "
           "-DSYNCLINE_WERROR=" SYNCLINE_WERROR " -DCMAKE_UNITY_BUILD=" SYNCLINE_UNITY
           " && "
           "cmake --build build/release --target syncline laws_test");
  EXPECT_NE(succeeds(in_copy + "build/release/syncline list schedules").find("patient"),
            std::string::npos);
  // These tests cover everything that is registered, and so the new schedule.
  succeeds(in_copy +
           "build/release/tests/laws_test "
           "--gtest_filter='EverySchedule.*:Law6.*:Law9.*:Law10.*:Law11.*'");
  succeeds(in_copy +
           "build/release/syncline run --platform two-hosts --model resnet50 "
           "--throughput 100 --schedule patient --learn riddle --iterations 3");
  // The figure appears in JSON, CSV, tables, help and the gate, all from its row alone. Applied
  // only now, because the laws would be compiled again otherwise.
  std::ofstream(copy / "figure.patch") << patch_for_a_figure();
  succeeds(in_copy + "git apply figure.patch && cmake --build build/release --target syncline");
  const std::string table = succeeds(in_copy +
                                     "build/release/syncline run --platform two-hosts --model "
                                     "resnet50 --throughput 100 --workers 1,2 --out out");
  EXPECT_NE(table.find("sent/sample"), std::string::npos) << table;
  EXPECT_NE(succeeds(in_copy + "cat out/workers-2.json").find("\"bytes_per_sample\": "),
            std::string::npos);
  EXPECT_NE(succeeds(in_copy + "head -1 out/results.csv").find(",bytes_per_sample,"),
            std::string::npos);
  succeeds(in_copy + "build/release/syncline help bytes_per_sample");
  succeeds(in_copy +
           "mkdir gate && printf 'platform = two-hosts\\nmodel = resnet50\\nthroughput = 100\\n' "
           "> gate/ring.cfg && printf 'cell,figure,at_least\\nring,bytes_per_sample,1e6\\n' "
           "> gate/expected.csv && build/release/syncline check gate");
  fs::remove_all(copy);
}

// Two cards per node: a ring in two channels sends half of the bytes that leave a node, 2(n-1)/n of
// the buffer, over each card, and in one channel everything over one card; with `hierarchical` each
// worker sends half of the buffer over its own card.
TEST(PlatformsReadme, HasAPlatformWithSeveralCardsPerNodeThatWorks) {
  std::string xml;
  bool inside = false;
  for (const std::string& line : lines_of(root / "platforms/README.md")) {
    if (line.starts_with("```"))
      inside = line == "```xml";
    else if (inside)
      xml += line + "\n";
  }
  const fs::path path = fs::path(testing::TempDir()) / "syncline-two-cards.xml";
  std::ofstream(path) << xml;
  const auto busiest = [&](const std::string& exchange, const std::string& bytes) {
    const std::string text =
        succeeds(std::string(SYNCLINE_PROGRAM) + " explain --platform " + path.string() +
                 " --model vgg16 --throughput 200 --exchange " + exchange);
    const std::regex card("node[01]-nic[01]_(UP|DOWN) +" + bytes + " B");
    return std::distance(std::sregex_iterator(text.begin(), text.end(), card), {});
  };
  const std::uint64_t buffer = 138'357'544 * 4;
  EXPECT_EQ(busiest("ring", std::to_string(buffer / 4 * 3)), 5);  // of eight equal links
  EXPECT_EQ(busiest("ring --channels 1", std::to_string(buffer / 4 * 6)), 4);
  EXPECT_EQ(busiest("hierarchical", std::to_string(buffer / 2)), 5);
  fs::remove(path);
}

}  // namespace
}  // namespace syncline

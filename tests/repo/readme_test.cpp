// The README and the pages that it leads to are true: its recipe for a schedule or a problem works,
// commands run, results and tables are those that the program prints, linked files exist.
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

// Pages whose commands are run here. Other tests run those of the gate's page and of the labs.
const std::vector<std::string> pages{"README.md", "CONTRIBUTING.md", "sim/options/scenario.md",
                                     "experiments/validation/README.md", "tests/README.md"};

// The lines of a page's section with this title; of all its sections without one.
std::vector<std::string> section_of(const std::string& page, const std::string& title) {
  std::vector<std::string> lines;
  bool inside = false;
  for (const std::string& line : lines_of(root / page))
    if (line.starts_with("#"))
      inside = title.empty() || line == title;
    else if (inside)
      lines.push_back(line);
  return lines;
}

// Its indented lines.
std::vector<std::string> commands_under(const std::string& page, const std::string& title) {
  std::vector<std::string> commands;
  for (const std::string& line : section_of(page, title))
    if (line.starts_with("    "))
      commands.push_back(line.substr(4));
  return commands;
}

const std::string shown_program = "build/release/syncline";  // as pages write it

// What a command of a page prints.
std::string printed_by(const std::string& command) {
  return succeeds("cd " + root.string() + " && " SYNCLINE_PROGRAM +
                  command.substr(shown_program.size()));
}

TEST(Readme, CommandsOfTheProgramWork) {
  static const std::regex written("--(out|html|junit|md) (\\S+)");
  const fs::path out = fs::path(testing::TempDir()) / "syncline-readme";
  fs::create_directories(out);
  int commands = 0;
  for (const std::string& page : pages)
    for (const std::string& command : commands_under(page, "")) {
      if (!command.starts_with(shown_program))
        continue;
      if (command == shown_program + " validate experiments/validation")
        continue;  // a test below compares what it prints
      printed_by(std::regex_replace(command, written, "--$1 " + out.string() + "/$2"));
      ++commands;
    }
  fs::remove_all(out);
  EXPECT_GE(commands, 14);
}

TEST(Readme, FirstResultIsWhatTheProgramPrints) {
  const std::string title = "## One result";
  const std::vector<std::string> commands = commands_under("README.md", title);
  ASSERT_EQ(commands.size(), 1u);
  const std::string printed = "\n" + printed_by(commands.front());
  static const std::regex row("(workers|[0-9]+)  .*");
  int rows = 0;
  for (const std::string& line : section_of("README.md", title))
    if (std::regex_match(line, row)) {
      EXPECT_NE(printed.find("\n" + line + "\n"), std::string::npos) << line << "\n" << printed;
      ++rows;
    }
  EXPECT_EQ(rows, 7);
}

// It outlasts the slow spells that it is about, and every seed has the same winner.
TEST(Readme, LearningExamplePrintsWhatItSays) {
  const std::string title = "### Teach: what does one slow worker cost?";
  std::string command;
  for (const std::string& one : commands_under("README.md", title))
    if (one.find("--until loss") != std::string::npos)
      command = one;
  ASSERT_FALSE(command.empty());
  const std::string printed = printed_by(command);
  const std::size_t at = printed.find("reached loss");
  ASSERT_NE(at, std::string::npos) << printed;
  const std::string verdict = printed.substr(at, printed.find('\n', at) - at);
  EXPECT_NE(verdict.find("first in 5 of 5"), std::string::npos) << verdict;
  const std::vector<std::string> lines = section_of("README.md", title);
  EXPECT_NE(std::find(lines.begin(), lines.end(), verdict), lines.end()) << verdict;
}

// Once, a folder that a run had written was committed, with a trace of 190 MB.
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
  static const std::regex link(R"(\]\(([^)#]+)(#[^)]*)?\))");
  int links = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".md" ||
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

// What `validate` printed of perfect scaling after this line, as a cell of the README's table.
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
// CONTRIBUTING, then a build. With ccache it takes seconds; without, as long as a new build.
TEST(Readme, RecipesForAScheduleAProblemAndAFigureNeedNoOtherEdit) {
  const std::vector<std::string> recipe =
      commands_under("README.md", "## Add a schedule, or a problem");
  ASSERT_EQ(recipe.size(), 6u);
  EXPECT_EQ(recipe[4], "./run.sh list schedules");
  EXPECT_EQ(recipe[5], "./test.sh");

  // The same folder in every run, for ccache; another one for another clone.
  const fs::path copy = fs::path(testing::TempDir()) /
                        ("syncline-recipe-" + std::to_string(fs::hash_value(fs::canonical(root))));
  fs::remove_all(copy);
  fs::create_directories(copy);
  const std::string in_copy = "cd " + copy.string() + " && ";
  succeeds("cd " + root.string() +
           " && cp -r CMakeLists.txt sim kernels tests models platforms experiments " +
           copy.string());
  succeeds(in_copy + recipe[0] + " && " + recipe[1] + " && " + recipe[2] + " && " + recipe[3]);
  // A schedule with servers that declares no parameter at all has to pass the laws, too.
  succeeds(in_copy +
           "sed -e 's/\"asp\"/\"plain-asp\"/' -e '/\\.options = {pull_option()},/d' "
           "sim/schedules/asp.cpp > sim/schedules/plain-asp.cpp && "
           "! grep pull_ sim/schedules/plain-asp.cpp");
  succeeds(in_copy +
           "cmake -S . -B build/release -G Ninja "
           "-DCMAKE_BUILD_TYPE=Release -DCMAKE_CUDA_COMPILER=NOTFOUND "
           "-DSYNCLINE_WERROR=" SYNCLINE_WERROR " -DCMAKE_UNITY_BUILD=" SYNCLINE_UNITY
           " && "
           "cmake --build build/release --target syncline laws_test");
  EXPECT_NE(succeeds(in_copy + "build/release/syncline list schedules").find("patient"),
            std::string::npos);
  // These tests run everything that is registered, so also the new schedule.
  succeeds(in_copy +
           "build/release/tests/laws_test "
           "--gtest_filter='EverySchedule.*:Law6.*:Law9.*:Law10.*:Law11.*'");
  succeeds(in_copy +
           "build/release/syncline run --platform two-hosts --model resnet50 "
           "--throughput 100 --schedule patient --learn riddle --iterations 3");
  // The figure is in JSON, CSV, tables, help and the gate, of which only its row knows. Applied not
  // before: the laws would be compiled again, too.
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

// Two cards per node: a ring in two channels sends half of what leaves a node, 2(n-1)/n of the
// buffer, over each of them, in one channel all over one; in `hierarchical` each worker sends half
// of the buffer over its own.
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
  EXPECT_EQ(busiest("ring", std::to_string(buffer / 4 * 3)), 5);  // of eight, all alike
  EXPECT_EQ(busiest("ring --channels 1", std::to_string(buffer / 4 * 6)), 4);
  EXPECT_EQ(busiest("hierarchical", std::to_string(buffer / 2)), 5);
  fs::remove(path);
}

}  // namespace
}  // namespace syncline

// The labs are correct: each of their commands runs, their tables show the actual output, and their
// exercises are unsolved but solvable.
#include <filesystem>
#include <gtest/gtest.h>
#include <map>

#include "kernels/io/text.h"
#include "tests/program/program.h"
#include "tests/repo/commands.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> labs() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(root / "experiments/labs"))
    if (entry.is_directory())
      names.push_back(entry.path().filename());
  return names;
}

std::vector<std::string> readme_of(const std::string& lab) {
  return lines_of(root / "experiments/labs" / lab / "README.md");
}

// The arguments of each command of the program in a lab's README.
std::vector<std::vector<std::string>> commands_of(const std::string& lab) {
  const std::string program = "    build/release/syncline ";
  std::vector<std::vector<std::string>> commands;
  for (const std::string& line : readme_of(lab))
    if (line.starts_with(program))
      commands.push_back(split(line.substr(program.size()), ' '));
  return commands;
}

std::string printed_by_run(const std::string& lab) {
  const std::string scenario = "experiments/labs/" + lab + "/" + lab + ".cfg";
  return run_program({"run", scenario}, root).out;
}

// For each lab: the lines of answer.cfg that change, and their new text.
const std::map<std::string, std::map<std::string, std::string>> answers{
    {"rings", {{"exchange = ring", "exchange = halving-doubling"}}},
    {"servers", {{"workers = 12", "workers = 16"}, {"servers = 4", "servers = 0"}}},
    {"stragglers", {{"schedule = ssp", "schedule = asp"}, {"staleness = 4", ""}}},
    {"compression", {{"exchange = allgather", "exchange = gtopk"}}},
    {"hierarchy", {{"staleness = 1", "staleness = 0"}, {"threshold = 4", "threshold = 8"}}},
    {"convergence", {{"staleness = 8", "staleness = 2"}}}};

class Lab : public testing::TestWithParam<std::string> {};

TEST_P(Lab, EveryCommandRuns) {
  const TemporaryFolder folder;
  std::map<std::string, int> times;
  for (std::vector<std::string> command : commands_of(GetParam())) {
    for (std::size_t i = 1; i < command.size(); ++i)
      if (command[i - 1] == "--html")
        command[i] = folder.path(command[i]);
    const Ended ended = run_program(command, root);
    EXPECT_EQ(ended.code, command.front() == "check" ? 1 : 0) << command.front() << ended.err;
    if (command.front() == "check") {  // the exercise is unsolved, and nothing has moved
      EXPECT_NE(ended.out.find("\nnot yet  answer"), std::string::npos) << ended.out;
      EXPECT_NE(ended.out.find(" as expected, 1 not yet\n"), std::string::npos) << ended.out;
      EXPECT_EQ(ended.out.find("MOVED"), std::string::npos) << ended.out;
    }
    ++times[command.front()];
  }
  EXPECT_EQ(times["run"], 1);
  EXPECT_EQ(times["check"], 1);
  EXPECT_TRUE(fs::exists(folder.path(GetParam() + ".html")));
}

TEST_P(Lab, TablesAreWhatIsPrinted) {
  const std::string printed = printed_by_run(GetParam());
  int numbers = 0;
  for (const std::string& line : readme_of(GetParam()))
    if (line.starts_with("| "))
      for (const std::string& cell : split(line, '|'))
        if (const std::string text = trimmed(cell); !text.empty() && std::isdigit(text.front())) {
          EXPECT_NE(printed.find(text), std::string::npos) << text << " in\n" << printed;
          ++numbers;
        }
  EXPECT_GE(numbers, 9);
}

TEST_P(Lab, ExerciseHasAnAnswer) {
  ASSERT_TRUE(answers.contains(GetParam()));
  const TemporaryFolder folder;
  fs::copy(root / "experiments/labs", folder.path("labs"), fs::copy_options::recursive);
  const std::string exercise = "labs/" + GetParam() + "/exercise";
  std::string text;
  std::size_t changed = 0;
  for (const std::string& line : lines_of(folder.path(exercise + "/answer.cfg"))) {
    const auto answer = answers.at(GetParam()).find(line);
    changed += answer == answers.at(GetParam()).end() ? 0 : 1;
    text += (answer == answers.at(GetParam()).end() ? line : answer->second) + "\n";
  }
  EXPECT_EQ(changed, answers.at(GetParam()).size());
  folder.write(exercise + "/answer.cfg", text);
  const Ended ended = run_program({"check", folder.path(exercise)}, root);
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
}

// Hints and key are folded, so that a reader sees them only after opening them.
TEST_P(Lab, HasHintsAndAtTheBackAKey) {
  const std::string readme =
      text_of((root / "experiments/labs" / GetParam() / "README.md").string());
  std::vector<std::size_t> folds;
  for (const char* fold : {"<details><summary>Hint 1</summary>",
                           "<details><summary>Hint 2</summary>", "<details><summary>Key</summary>"})
    folds.push_back(readme.find(fold));
  ASSERT_NE(std::ranges::max(folds), std::string::npos);
  EXPECT_TRUE(std::ranges::is_sorted(folds));
  const std::string before = readme.substr(0, folds.back()), key = readme.substr(folds.back());
  EXPECT_TRUE(key.ends_with("</details>\n"));
  EXPECT_EQ(key.find("<details>", 1), std::string::npos);
  for (const auto& [line, answer] : answers.at(GetParam())) {
    EXPECT_NE(key.find(answer.empty() ? line.substr(0, line.find(' ')) : answer), std::string::npos)
        << answer;
    EXPECT_TRUE(answer.empty() || before.find("`" + answer + "`") == std::string::npos ||
                answer == "servers = 0")  // a hint contains it
        << answer;
  }
}

INSTANTIATE_TEST_SUITE_P(Experiments, Lab, testing::ValuesIn(labs()),
                         [](const auto& lab) { return lab.param; });

}  // namespace
}  // namespace syncline

// The experiments that learn: each has a command, a figure and at most one screen of text.
#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/repo/commands.h"
#include "tests/unit/parameter_name.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

bool has_line(const std::vector<std::string>& lines, const std::string& part) {
  return std::ranges::any_of(
      lines, [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(root / "experiments"))
    if (const fs::path script = entry.path() / "figure.py";
        fs::exists(script) && has_line(lines_of(script), "import plots"))
      found.push_back(entry.path().filename());
  std::ranges::sort(found);
  return found;
}

class Experiment : public testing::TestWithParam<std::string> {};

TEST_P(Experiment, HasACommandAFigureAndAScreenOfText) {
  const fs::path folder = root / "experiments" / GetParam();
  const std::vector<std::string> readme = lines_of(folder / "README.md");
  EXPECT_TRUE(has_line(readme, "    experiments/run.sh " + GetParam()));
  EXPECT_TRUE(has_line(readme, "](figure.svg)"));
  EXPECT_LE(readme.size(), 60u);
  EXPECT_TRUE(has_line(lines_of(folder / "figure.svg"), "</svg>"));
  EXPECT_TRUE(has_line(lines_of(root / "README.md"), "experiments/" + GetParam()));
}

// Results with a few thousand values and without momentum say little about millions with momentum.
TEST(Verdicts, OfCompressionSayOfHowManyValuesAndWithoutMomentum) {
  for (const char* name : {"topk-contraction", "error-feedback"}) {
    std::vector<std::string> verdicts;
    bool goes_on = false;
    for (const std::string& line : lines_of(root / "experiments" / name / "README.md")) {
      if (line.starts_with("- **"))
        verdicts.emplace_back();
      goes_on = line.starts_with("- **") || (goes_on && line.starts_with("  "));
      if (goes_on)
        verdicts.back() += " " + line.substr(2);
    }
    EXPECT_GE(verdicts.size(), 3U) << name;
    for (const std::string& verdict : verdicts)
      for (const char* said : {"d = ", "k = ", "without momentum"})
        EXPECT_NE(verdict.find(said), std::string::npos) << name << ": " << verdict;
  }
}

INSTANTIATE_TEST_SUITE_P(Experiments, Experiment, testing::ValuesIn(names()), name_of_parameter);

TEST(Experiments, AnUnknownOneIsAnsweredWithTheirNames) {
  int status = 0;
  const std::string text = output_of((root / "experiments/run.sh").string() + " nothing", status);
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
  for (const std::string& name : names())
    EXPECT_NE(text.find(name), std::string::npos) << text;
}

}  // namespace
}  // namespace syncline
